/** Swaps of which the chain has the transactions and the database no record, on a chain with real signatures. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { ComputeBudgetProgram, Keypair, PublicKey, TransactionInstruction, VersionedTransaction } from "@solana/web3.js"
import { DateTime, Duration, Effect, Fiber, Layer, Option, Redacted, Schedule } from "effect"
import { createHash } from "node:crypto"
import { solanaAccount, solanaChainId, spl } from "#domain/values/Caip.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { CancelRequested } from "#domain/operation/CancelRequested.ts"
import { OperationTags } from "#domain/relay/OperationTags.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { type RecordedPart, PartJournal } from "#domain/relay/PartJournal.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import { submitPart, ResendEvery } from "#layers/solana/execution/submitPart.ts"
import { prepareSwaps } from "#layers/solana/execution/prepareSwaps.ts"
import { concludeListings } from "#layers/solana/execution/readTagged.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaTags } from "#layers/solana/SolanaTags.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { emulateJupiter } from "#sandbox/solana/market/emulateJupiter.ts"
import { installMints, issue } from "#sandbox/solana/market/issuer.ts"
import { jupiterProgram } from "#sandbox/solana/market/jupiterRoute.ts"
import { splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { installMarket } from "#sandbox/solana/market/installMarket.ts"
import { startJupiter } from "#test/layers/solana/jupiterServer.ts"
import { type Losses, losses } from "#test/layers/solana/losses.ts"
import { enrollSolana, fees, newAgent, whileBlocksPass } from "#test/layers/solana/owners.ts"
import { type Proxy, startProxy } from "#test/layers/solana/rpc/endpoints.ts"
import { fundedKey, land, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

const dollars = 1_000_000_000n
const named = (symbol: string) => splCatalog.find((token) => token.symbol === symbol)!
const [dollar, tesla, jup] = [usdc, named("TSLAx"), named("JUP")].map(({ mint }) => spl(mint.toBase58())) as [
  ReturnType<typeof spl>,
  ReturnType<typeof spl>,
  ReturnType<typeof spl>
]
const swapOf = (sell: typeof dollar, buy: typeof dollar, sellAmountRaw: bigint): ReadySwap => ({
  sell,
  buy,
  sellAmountRaw,
  expectedBuyRaw: 1_000n,
  minBuyAmountRaw: 900n,
  execution: { _tag: "Solana" }
})
let count = 0
const newOperation = () => `op_${String((count += 1)).padStart(26, "0")}` as OperationId

/** Computed again: SHA-256 of the id's text. */
const tagOf = (operationId: OperationId) => createHash("sha256").update(operationId).digest()

it("what endpoints list counts when two have finalized later blocks and show the same", () => {
  const at = (height: bigint, ...landed: ReadonlyArray<string>) => ({ height, landed })
  const conclude = (endpoints: number, ...listings: ReadonlyArray<ReturnType<typeof at>>) =>
    concludeListings(listings, { endpoints, lastHeight: 100n })
  assert.strictEqual(conclude(1, at(100n, "a")), "pending")
  assert.deepStrictEqual(conclude(1, at(101n, "a")), ["a"])
  assert.strictEqual(conclude(2, at(101n, "a")), "pending", "one of two is silent")
  assert.strictEqual(conclude(2, at(101n, "a"), at(100n)), "pending", "one of two is behind")
  assert.strictEqual(conclude(2, at(101n, "a"), at(101n)), "contradiction")
  assert.deepStrictEqual(conclude(3, at(101n, "a"), at(90n), at(102n, "a")), ["a"])
})

describe("swaps without a record", () => {
  let chain: TestChain
  let jupiter: Awaited<ReturnType<typeof startJupiter>>
  let agent: ReturnType<typeof newAgent>
  let proxy: Proxy
  let recorded: Map<string, RecordedPart>
  let isCancelled: boolean
  let releases: boolean
  const loss: Losses = { lostAt: null }

  beforeAll(async () => {
    chain = await startTestChain({ emulations: new Map([[jupiterProgram.toBase58(), emulateJupiter]]) })
    agent = newAgent(chain)
    installMints(chain.ledger)
    installMarket(chain.ledger, ({ initialPriceUsd }) => initialPriceUsd)
    jupiter = await startJupiter(chain)
    proxy = await startProxy(chain.url)
  })
  beforeEach(() => {
    recorded = new Map()
    isCancelled = false
    releases = true
    loss.lostAt = null
    chain.fate = "ok"
    proxy.asked.length = 0
  })
  afterAll(async () => {
    jupiter.close()
    await proxy.close()
    await chain.close()
  })

  const journal = Layer.succeed(PartJournal, {
    latest: ({ attempt, part }) =>
      Effect.sync(() => Option.fromUndefinedOr(recorded.get(`${attempt.attempt} ${part}`))),
    record: ({ attempt, part }, _, { isLanded = false, number, payload }) =>
      isCancelled && number === 1 && !isLanded
        ? Effect.fail(new CancelRequested({ operationId: attempt.operationId }))
        : Effect.sync(() => void recorded.set(`${attempt.attempt} ${part}`, { number, payload }))
  })
  const elsewhere = Layer.succeed(OperationTags, { find: () => Effect.die("another family is asked") })
  const services = Layer.suspend(() =>
    SolanaTags.pipe(
      Layer.provide(elsewhere),
      Layer.provideMerge(UnrecordedTransactions.layer.pipe(Layer.provide(losses(loss)))),
      Layer.provideMerge(
        Layer.mergeAll(
          SolanaRpc.layer([Redacted.make(proxy.url)]),
          JupiterClient.layer({ baseUrl: jupiter.url, apiKey: null, requestsPerSecond: 1_000 }),
          Layer.succeed(SolanaAgent, { signing: Effect.succeed({ agent, fees }) }),
          journal
        )
      )
    )
  )
  /** Blocks pass, and late transactions land when they are due. */
  const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof services>>) =>
    Effect.suspend(() => {
      const releasing = Effect.forever(
        Effect.delay(
          Effect.sync(() => releases && chain.intake.release()),
          "5 millis"
        )
      )
      return Effect.raceFirst(whileBlocksPass(chain)(effect), releasing).pipe(
        Effect.provideService(ResendEvery, Duration.millis(5)),
        Effect.provideService(RelayTiming, {
          searchFor: Duration.seconds(20),
          searchInterval: Duration.millis(1),
          holdFor: Duration.minutes(5)
        }),
        Effect.provide(services)
      )
    })

  /** A portfolio with 1,000 dollars, and two swaps of it for an operation. */
  const twoSwaps = Effect.gen(function* () {
    const { deposit, place } = yield* enrollSolana(chain, agent, Keypair.generate())
    issue(chain.ledger, deposit, { token: usdc, amountRaw: dollars })
    const operationId = newOperation()
    const policy = {
      _tag: "Solana",
      walletId: `0x${Buffer.from(place.walletId).toString("hex")}`,
      roleId: place.roleId
    }
    const grant = { authorization: { chains: [{ policy }] }, ownerSignature: "" } as unknown as Grant
    const swaps = [swapOf(dollar, tesla, dollars / 4n), swapOf(dollar, jup, dollars / 4n)]
    const prepared = yield* prepareSwaps({ ...grant, chainId: solanaChainId, operationId, swaps })
    const accountId = solanaAccount(deposit.toBase58())
    const attempt = { operationId, chainId: solanaChainId, attempt: 1 }
    return { accountId, attempt, deposit, operationId, prepared }
  })
  type Prepared = Effect.Success<typeof twoSwaps>
  const submit = ({ attempt, prepared }: Pick<Prepared, "attempt" | "prepared">, step: number) =>
    Effect.flatMap(submitPart(attempt, prepared, step), Effect.fromOption).pipe(
      Effect.retry(Schedule.spaced("20 millis"))
    )
  /** Signatures of what the agent paid for, of one account. */
  const includedOn = ({ deposit }: Prepared) =>
    chain.ledger.statuses
      .naming(deposit.toBase58())
      .filter(([, { bytes }]) =>
        VersionedTransaction.deserialize(bytes).message.staticAccountKeys[0]!.equals(agent.key)
      )
      .map(([signature]) => signature)
  const lose = Effect.gen(function* () {
    loss.lostAt = yield* DateTime.now
    recorded.clear()
  })
  const sought = ({ accountId, operationId }: Prepared) => ({
    chainId: solanaChainId,
    accountId,
    operationId,
    since: DateTime.makeUnsafe(0),
    fromBlock: 0n
  })

  it.live("bytes that are sent name their operation, where nothing reads it", () =>
    run(
      Effect.gen(function* () {
        const one = yield* twoSwaps
        const landed = yield* submit(one, 0)
        const txHash = landed._tag === "Landed" ? landed.txHash : assert.fail(JSON.stringify(landed))
        const { bytes } = chain.ledger.statuses.find(txHash, chain.ledger.slot, true)!
        const { message } = VersionedTransaction.deserialize(bytes)
        const place = message.staticAccountKeys.findIndex((key) => tagOf(one.operationId).equals(key.toBytes()))
        assert.isAbove(place, 0)
        assert.isFalse(message.isAccountSigner(place))
        assert.isFalse(message.isAccountWritable(place))
        const naming = message.compiledInstructions.filter(({ accountKeyIndexes }) => accountKeyIndexes.includes(place))
        assert.deepStrictEqual(
          naming.map(({ programIdIndex }) => message.staticAccountKeys[programIdIndex]!.toBase58()),
          [ComputeBudgetProgram.programId.toBase58()]
        )
        const { find } = yield* OperationTags
        assert.deepStrictEqual(yield* find(sought(one)), { _tag: "Absent" })
        assert.notInclude(proxy.asked, "getSignaturesForAddress", "nothing can be lost, so nothing is sought")
      })
    )
  )

  it.live("steps that landed are not signed again, and end as what they did, although the run is to be cancelled", () =>
    run(
      Effect.gen(function* () {
        const one = yield* twoSwaps
        const before = [yield* submit(one, 0), yield* submit(one, 1)]
        const sent = includedOn(one)
        yield* lose
        isCancelled = true
        assert.isTrue(Option.isNone(yield* submitPart(one.attempt, one.prepared, 0)), "it waits")
        const after = [yield* submit(one, 0), yield* submit(one, 1)]
        assert.deepStrictEqual(after, before)
        assert.deepStrictEqual(includedOn(one), sent)
        assert.lengthOf([...recorded.keys()], 2, "what was found is recorded")
      })
    )
  )

  it.live("a step that was not begun is carried out after one that landed", () =>
    run(
      Effect.gen(function* () {
        const one = yield* twoSwaps
        const before = yield* submit(one, 0)
        const sent = includedOn(one).length
        yield* lose
        assert.deepStrictEqual(yield* submit(one, 0), before)
        assert.strictEqual((yield* submit(one, 1))._tag, "Landed")
        assert.lengthOf(includedOn(one), sent + 1)
      })
    )
  )

  it.live("a transaction that lands after the loss is waited for", () =>
    run(
      Effect.gen(function* () {
        const one = yield* twoSwaps
        const sent = includedOn(one).length
        chain.fate = "late"
        releases = false
        proxy.asked.length = 0
        const signing = yield* Effect.forkChild(submit(one, 0))
        // The first has been answered when there is a second.
        yield* Effect.sync(() => proxy.asked.filter((method) => method === "sendTransaction").length).pipe(
          Effect.filterOrFail((times) => times > 1),
          Effect.retry(Schedule.spaced("5 millis"))
        )
        yield* Fiber.interrupt(signing)
        const first = recorded.get("1 0")!.payload
        assert.lengthOf(includedOn(one), sent, "it is on its way")
        yield* lose
        chain.fate = "ok"
        assert.isTrue(Option.isNone(yield* submitPart(one.attempt, one.prepared, 0)))
        releases = true
        const landed = yield* submit(one, 0)
        assert.strictEqual(landed._tag === "Landed" ? landed.txHash : "", JSON.parse(first).attempt.signature)
        assert.lengthOf(includedOn(one), sent + 1)
      })
    )
  )

  it.live("a run without its preparation has traded what landed, and nothing of another operation", () =>
    run(
      Effect.gen(function* () {
        const [one, other] = [yield* twoSwaps, yield* twoSwaps]
        const outcomes = [yield* submit(one, 0), yield* submit(one, 1)]
        yield* lose
        const { find } = yield* OperationTags
        assert.deepStrictEqual(yield* find(sought(one)), { _tag: "Pending" })
        const shown = yield* find(sought(one)).pipe(
          Effect.filterOrFail(({ _tag }) => _tag !== "Pending"),
          Effect.retry(Schedule.spaced("20 millis"))
        )
        const receipt = shown._tag === "Included" ? shown.receipt : assert.fail(shown._tag)
        const landed = outcomes.flatMap((outcome) => (outcome._tag === "Landed" ? [outcome] : []))
        assert.deepStrictEqual(
          receipt.transactions,
          landed.map(({ feeRaw, txHash }) => ({ txHash, success: true, gasUsed: feeRaw }))
        )
        const bought = landed.map(({ deltas }) => deltas[1]!)
        assert.sameDeepMembers([...receipt.deltas], [{ assetId: dollar, raw: -dollars / 2n }, ...bought])
        assert.deepStrictEqual(yield* find(sought(other)), { _tag: "Absent" })
      })
    )
  )

  it.live("what somebody else names after the operation does not count", () =>
    run(
      Effect.gen(function* () {
        const one = yield* twoSwaps
        const stranger = fundedKey(chain)
        const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 10_000 })
        const keys = [Buffer.from(tagOf(one.operationId)), one.deposit.toBuffer()].map((key) => ({
          pubkey: new PublicKey(key),
          isSigner: false,
          isWritable: false
        }))
        const { error } = yield* Effect.promise(() =>
          land(chain, [new TransactionInstruction({ ...limit, keys })], [stranger])
        )
        assert.isNull(error)
        yield* lose
        assert.strictEqual((yield* submit(one, 0))._tag, "Landed")
        assert.include(proxy.asked, "getTransaction")
      })
    )
  )
})
