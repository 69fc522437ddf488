import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { TOKEN_PROGRAM_ID } from "@solana/spl-token"
import { Keypair, SystemProgram, VersionedTransaction } from "@solana/web3.js"
import { Duration, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Base58 from "#domain/values/Base58.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { installMints, issue } from "#sandbox/solana/market/issuer.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import { forwards, type Proxy, rpcError, rpcResult, startProxy } from "#test/layers/solana/rpc/endpoints.ts"
import { fundedKey, signed, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
let [first, second] = [] as unknown as [Proxy, Proxy]
beforeAll(async () => {
  chain = await startTestChain()
  installMints(chain.ledger)
  first = await startProxy(chain.url)
  second = await startProxy(chain.url)
})
afterEach(() => {
  for (const proxy of [first, second]) {
    proxy.answer = forwards
    proxy.asked.length = 0
  }
})
afterAll(() => Promise.all([first.close(), second.close(), chain.close()]))

const over = <A, E>(urls: ReadonlyArray<string>, use: (rpc: SolanaRpc["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(SolanaRpc, use).pipe(Effect.provide(SolanaRpc.layer(urls.map((url) => Redacted.make(url)))))

const transferOf = async () => {
  const payer = fundedKey(chain)
  const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: usdc.mint, lamports: 1 })
  const transaction: VersionedTransaction = await signed(chain, [pay], [payer])
  return { bytes: transaction.serialize(), signature: Base58.encode(transaction.signatures[0]!), payer }
}

describe("reading a Solana node", () => {
  it.effect("blockhash, heights, rent and fees are what the chain has", () =>
    over([chain.url], (rpc) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* rpc.latestBlockhash, chain.ledger.blockhashes.latest)
        const { blockHeight: height, slot } = chain.ledger
        assert.deepStrictEqual(yield* rpc.position("confirmed"), { height, slot })
        assert.strictEqual(yield* rpc.minimumRent(165), chain.ledger.rentOf(165))
        assert.deepStrictEqual(yield* rpc.recentFees([usdc.mint]), [0n])
      })
    )
  )

  it.effect("a rent is asked for once an hour for each size, and again after a failure", () =>
    over([first.url, second.url], (rpc) =>
      Effect.gen(function* () {
        const asked = () =>
          [...first.asked, ...second.asked].filter((one) => one === "getMinimumBalanceForRentExemption")
        for (const proxy of [first, second]) proxy.answer = async () => ({ status: 503, body: "" })
        yield* Effect.flip(rpc.minimumRent(165))
        for (const proxy of [first, second]) {
          proxy.answer = forwards
          proxy.asked.length = 0
        }
        for (const _ of [1, 2]) assert.strictEqual(yield* rpc.minimumRent(165), chain.ledger.rentOf(165))
        yield* rpc.minimumRent(0)
        assert.lengthOf(asked(), 2)
        yield* TestClock.adjust(Duration.minutes(61))
        yield* rpc.minimumRent(165)
        assert.lengthOf(asked(), 3)
      })
    )
  )

  it.effect("accounts come in the order of their keys, those that do not exist as none", () =>
    over([chain.url], (rpc) =>
      Effect.gen(function* () {
        const [known, unknown] = [fundedKey(chain, sol), Keypair.generate()]
        const { slot, values } = yield* rpc.accounts([unknown.publicKey, known.publicKey, usdc.mint])
        assert.strictEqual(slot, chain.ledger.slot)
        assert.isTrue(Option.isNone(values[0]!))
        assert.strictEqual(Option.getOrThrow(values[1]!).lamports, sol)
        assert.isTrue(Option.getOrThrow(values[2]!).owner.equals(TOKEN_PROGRAM_ID))
      })
    )
  )

  it.effect("many askers are answered by few requests, each asker at one slot, and 250 keys by three", () =>
    over([first.url], (rpc) =>
      Effect.gen(function* () {
        const keys = Array.from({ length: 40 }, () => fundedKey(chain, sol).publicKey)
        const reads = yield* Effect.forEach(keys, (key) => rpc.accounts([key, usdc.mint]), { concurrency: "unbounded" })
        for (const { values } of reads) assert.strictEqual(Option.getOrThrow(values[0]!).lamports, sol)
        assert.isAtMost(first.asked.filter((method) => method === "getMultipleAccounts").length, 3)
        first.asked.length = 0
        const many = yield* rpc.accounts(Array.from({ length: 250 }, () => Keypair.generate().publicKey))
        assert.strictEqual(many.values.length, 250)
        assert.strictEqual(first.asked.length, 3)
      })
    )
  )

  it.effect("token accounts of an owner are those of one token program", () =>
    over([chain.url], (rpc) =>
      Effect.gen(function* () {
        const owner = Keypair.generate().publicKey
        issue(chain.ledger, owner, { token: usdc, amountRaw: 7n })
        const { values } = yield* rpc.tokenAccounts(owner, TOKEN_PROGRAM_ID)
        assert.strictEqual(values.length, 1)
        assert.strictEqual(values[0]!.data.length, 165)
      })
    )
  )

  it.effect("what a node says of a slot before the one that was seen is not taken", () =>
    over([chain.url], (rpc) =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(rpc.accounts([usdc.mint], chain.ledger.slot + 1n))
        assert.match(failure.reason, /its node is at block \d+, and the chain was seen at block \d+/)
        assert.isTrue(failure.isBehind)
      })
    )
  )

  it.effect("a number that JSON rounded is refused", () =>
    over([first.url], (rpc) =>
      Effect.gen(function* () {
        first.answer = async (method, forward) =>
          method === "getEpochInfo"
            ? rpcResult({ absoluteSlot: 2 ** 53, blockHeight: 1 })
            : { status: 200, body: await forward() }
        assert.match(
          (yield* Effect.flip(rpc.position("confirmed"))).reason,
          /getEpochInfo: the answer could not be read/
        )
      })
    )
  )
})

describe("sending and asking what became of it", () => {
  it.effect("a sent transaction has a status; an unknown one has none", () =>
    over([chain.url], (rpc) =>
      Effect.gen(function* () {
        const { bytes, signature } = yield* Effect.promise(transferOf)
        assert.isTrue(Option.isNone((yield* rpc.statuses([signature])).values[0]!))
        assert.isNull((yield* rpc.simulate(bytes)).error)
        yield* rpc.send(bytes)
        chain.ledger.advance(2n)
        const status = Option.getOrThrow((yield* rpc.statuses([signature])).values[0]!)
        assert.deepInclude(status, { error: null, commitment: "confirmed" })
        chain.ledger.advance(400n)
        const later = Option.getOrThrow((yield* rpc.statuses([signature])).values[0]!)
        assert.strictEqual(later.commitment, "finalized")
      })
    )
  )

  it.effect("simulation needs neither signatures nor a fresh blockhash, and answers the error", () =>
    over([chain.url], (rpc) =>
      Effect.gen(function* () {
        const { payer } = yield* Effect.promise(transferOf)
        const much = SystemProgram.transfer({
          fromPubkey: payer.publicKey,
          toPubkey: usdc.mint,
          lamports: 100n * sol
        })
        const transaction = yield* Effect.promise(() => signed(chain, [much], [payer]))
        chain.ledger.advance(200n)
        const unsigned = new VersionedTransaction(transaction.message)
        const { error } = yield* rpc.simulate(unsigned.serialize())
        assert.deepStrictEqual(error, { InstructionError: [0, { Custom: 1 }] })
      })
    )
  )

  it.effect("a transaction goes to every endpoint, and one that takes it is enough", () =>
    over([first.url, second.url], (rpc) =>
      Effect.gen(function* () {
        const { bytes, signature } = yield* Effect.promise(transferOf)
        first.answer = async (_, forward) => ({ status: 503, body: await forward().then(() => "") })
        yield* rpc.send(bytes)
        assert.isTrue(Option.isSome((yield* rpc.statuses([signature])).values[0]!))
        second.answer = async () => ({ status: 503, body: "" })
        assert.match((yield* Effect.flip(rpc.send(bytes))).reason, /HTTP status 503/)
      })
    )
  )
})

describe("endpoints that fail", () => {
  it.effect("another one answers, and the failed one is asked last for a while", () =>
    over([first.url, second.url], (rpc) =>
      Effect.gen(function* () {
        first.answer = async () => ({ status: 500, body: "" })
        assert.strictEqual((yield* rpc.position("confirmed")).slot, chain.ledger.slot)
        first.asked.length = 0
        assert.strictEqual((yield* rpc.position("confirmed")).slot, chain.ledger.slot)
        assert.deepStrictEqual(first.asked, [])
      })
    )
  )

  it.effect("a node that is behind is passed over; the answer of a node that refuses counts", () =>
    over([first.url, second.url], (rpc) =>
      Effect.gen(function* () {
        yield* rpc.position("confirmed")
        first.answer = async () => rpcError(-32_005, "Node is behind by 200 slots")
        assert.strictEqual(yield* rpc.minimumRent(0), chain.ledger.rentOf(0))
      })
    )
  )

  /** Forwards, and shows a confirmed slot that was some time ago. */
  const lagging =
    (slots: number): Proxy["answer"] =>
    async (_, forward) => {
      const answer = JSON.parse(await forward())
      if (answer.result?.context !== undefined) answer.result.context.slot -= slots
      return { status: 200, body: JSON.stringify(answer) }
    }

  it.effect("one that answers as of a slot before the one that was asked for is passed over, and asked last", () =>
    over([first.url, second.url], (rpc) =>
      Effect.gen(function* () {
        const { slot } = yield* rpc.position("confirmed")
        first.answer = lagging(5)
        const read = yield* rpc.accounts([usdc.mint], slot)
        assert.strictEqual(read.slot, slot)
        first.asked.length = 0
        yield* rpc.latestBlockhash
        assert.deepStrictEqual(first.asked, [])
      })
    )
  )

  it.effect("what the chain showed seconds ago is not read as it was before, from whatever endpoint", () =>
    over([first.url, second.url], (rpc) =>
      Effect.gen(function* () {
        const { slot } = yield* rpc.accounts([usdc.mint])
        yield* TestClock.adjust(Duration.seconds(4))
        for (const proxy of [first, second]) proxy.answer = lagging(2)
        const readings = [
          Effect.asVoid(rpc.accounts([usdc.mint])),
          Effect.asVoid(rpc.latestBlockhash),
          Effect.asVoid(rpc.tokenAccounts(usdc.mint, TOKEN_PROGRAM_ID))
        ]
        for (const reading of readings) {
          const failure = yield* Effect.flip(reading)
          assert.include(failure.reason, `the chain was seen at block ${slot}`)
          assert.isTrue(failure.isBehind)
        }
        second.answer = forwards
        assert.strictEqual((yield* rpc.accounts([usdc.mint])).slot, slot)
      })
    )
  )

  it.effect("a lone address is asked twice, since another machine may stand behind it the second time", () =>
    over([first.url], (rpc) =>
      Effect.gen(function* () {
        const { slot } = yield* rpc.position("confirmed")
        let machine = 0
        first.answer = (method, forward) => (machine++ % 2 === 0 ? lagging(5) : forwards)(method, forward)
        assert.strictEqual((yield* rpc.accounts([usdc.mint], slot)).slot, slot)
      })
    )
  )

  it.effect.each([[-32_005], [-32_016]] as const)("error %d says that the node is behind its chain", ([code]) =>
    over([first.url, second.url], (rpc) =>
      Effect.gen(function* () {
        yield* rpc.position("confirmed")
        for (const proxy of [first, second]) proxy.answer = async () => rpcError(code, "behind")
        assert.isTrue((yield* Effect.flip(rpc.accounts([usdc.mint], 1n))).isBehind)
      })
    )
  )

  it.effect("after too many requests an endpoint is left alone for as long as it says, a minute at most", () =>
    over([first.url, second.url], (rpc) =>
      Effect.gen(function* () {
        yield* rpc.position("confirmed")
        first.answer = async () => ({ status: 429, body: "", headers: { "retry-after": "30" } })
        yield* rpc.position("confirmed")
        first.answer = forwards
        first.asked.length = 0
        yield* TestClock.adjust(Duration.seconds(29))
        yield* rpc.position("confirmed")
        assert.deepStrictEqual(first.asked, [])
        yield* TestClock.adjust(Duration.seconds(2))
        yield* rpc.position("confirmed")
        assert.deepStrictEqual(first.asked, ["getEpochInfo"])
      })
    )
  )

  it.live("a lone endpoint is asked once more when the failure may pass", () =>
    over([first.url], (rpc) =>
      Effect.gen(function* () {
        yield* rpc.position("confirmed")
        let failures = 1
        first.answer = async (_, forward) =>
          failures-- > 0 ? { status: 429, body: "" } : { status: 200, body: await forward() }
        assert.strictEqual((yield* rpc.position("confirmed")).slot, chain.ledger.slot)
        failures = 2
        assert.match((yield* Effect.flip(rpc.position("confirmed"))).reason, /HTTP status 429/)
      })
    )
  )

  it.effect("nothing is read from a node of another network", () =>
    over([first.url], (rpc) =>
      Effect.gen(function* () {
        first.answer = async () => rpcResult("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG")
        assert.match((yield* Effect.flip(rpc.position("confirmed"))).reason, /serves another network/)
        assert.deepStrictEqual(first.asked, ["getGenesisHash"])
      })
    )
  )

  it.effect.each([
    ["a redirect", { status: 307, body: "" }],
    ["no JSON", { status: 200, body: "<html>" }],
    ["another shape", { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1 }) }],
    ["its own words with a URL", rpcError(-32_602, "see https://provider.example/key-of-the-operator")]
  ] as const)("%s is a failure, and no message holds the URL", ([, answer]) =>
    over([first.url], (rpc) =>
      Effect.gen(function* () {
        first.answer = async () => answer
        const failure = yield* Effect.flip(rpc.position("confirmed"))
        assert.strictEqual(failure._tag, "ChainUnavailable")
        assert.notInclude(failure.message, "key-of-the-operator")
        assert.isFalse(first.asked.includes("getEpochInfo"))
      })
    )
  )

  it.effect("no endpoint at all is said", () =>
    over([], (rpc) =>
      Effect.gen(function* () {
        assert.match((yield* Effect.flip(rpc.latestBlockhash)).message, /no RPC endpoint is configured for Solana/)
        assert.match((yield* Effect.flip(rpc.send(new Uint8Array(1)))).message, /no RPC endpoint is configured/)
      })
    )
  )
})
