/** Batches of swaps on Solana from the plan to the receipt: on a chain, with real signatures, and under faults. */
import { afterAll, assert, beforeAll, beforeEach, it } from "@effect/vitest"
import { Keypair, type PublicKey, VersionedTransaction } from "@solana/web3.js"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { EvmAddress, solanaChainId, type SplAssetId, spl } from "#domain/values/Caip.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { CancelRequested } from "#domain/operation/CancelRequested.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { type RecordedPart, PartJournal } from "#domain/relay/PartJournal.ts"
import type { PreparedParts } from "#domain/relay/Transaction.ts"
import { stepReceipt } from "#domain/relay/submitParts.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import { submitPart, feeOf, ResendEvery } from "#layers/solana/execution/submitPart.ts"
import { prepareSwaps } from "#layers/solana/execution/prepareSwaps.ts"
import { quoteSwaps } from "#layers/solana/execution/quoteSwaps.ts"
import type { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import type { WalletSubAccount } from "#layers/solana/enrollment/Flow.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { emulateJupiter } from "#sandbox/solana/market/emulateJupiter.ts"
import { installMints, issue } from "#sandbox/solana/market/issuer.ts"
import { jupiterProgram } from "#sandbox/solana/market/jupiterRoute.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { installMarket } from "#sandbox/solana/market/installMarket.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { NothingLost } from "#test/layers/solana/losses.ts"
import { type JupiterServer, startJupiter } from "#test/layers/solana/jupiterServer.ts"
import { enrollSolana, fees, newAgent, whileBlocksPass } from "#test/layers/solana/owners.ts"
import type { TestChain } from "#test/sandbox/solana/support.ts"

const dollars = 1_000_000_000n
const idOf = ({ mint }: SplToken): SplAssetId => spl(mint.toBase58())
const named = (symbol: string) => splCatalog.find((token) => token.symbol === symbol)!
const [tesla, jup] = [named("TSLAx"), named("JUP")]

eachSwig("trades", (start) => {
  let chain: TestChain
  let jupiter: JupiterServer
  let agent: ReturnType<typeof newAgent>
  let recorded: Map<string, RecordedPart & { readonly txHash: string }>
  let isCancelled: boolean
  let place: WalletSubAccount

  beforeAll(async () => {
    chain = await start(new Map([[jupiterProgram.toBase58(), emulateJupiter]]))
    agent = newAgent(chain)
    installMints(chain.ledger)
    installMarket(chain.ledger, ({ initialPriceUsd }) => initialPriceUsd)
    jupiter = await startJupiter(chain)
  })
  beforeEach(() => {
    jupiter.change = (built) => built
    jupiter.asked = []
    chain.fate = "ok"
    recorded = new Map()
    isCancelled = false
  })
  afterAll(async () => {
    jupiter.close()
    await chain.close()
  })

  const attempt = { operationId: `op_${"1".repeat(26)}` as OperationId, chainId: solanaChainId, attempt: 1 }
  /** Keeps what a database would keep beyond the process that wrote it. */
  const journal = Layer.succeed(PartJournal, {
    latest: ({ part }) => Effect.sync(() => Option.fromUndefinedOr(recorded.get(String(part)))),
    record: ({ part }, _, row) =>
      isCancelled && row.number === 1
        ? Effect.fail(new CancelRequested({ operationId: attempt.operationId }))
        : Effect.sync(() => void recorded.set(String(part), row))
  })
  const run = <A, E>(
    effect: Effect.Effect<A, E, SolanaRpc | JupiterClient | SolanaAgent | PartJournal | UnrecordedTransactions>
  ) =>
    Effect.suspend(() =>
      whileBlocksPass(chain)(effect).pipe(
        Effect.provideService(ResendEvery, Duration.millis(5)),
        Effect.provideService(RelayTiming, {
          searchFor: Duration.seconds(20),
          searchInterval: Duration.millis(1),
          holdFor: Duration.minutes(5)
        }),
        Effect.provide(
          NothingLost.pipe(
            Layer.provideMerge(
              Layer.mergeAll(
                SolanaRpc.layer([Redacted.make(chain.url)]),
                JupiterClient.layer({ baseUrl: jupiter.url, apiKey: null, requestsPerSecond: 1_000 }),
                Layer.succeed(SolanaAgent, { signing: Effect.succeed({ agent, fees }) }),
                journal
              )
            )
          )
        )
      )
    )

  const funded = Effect.gen(function* () {
    const enrolled = yield* enrollSolana(chain, agent, Keypair.generate())
    issue(chain.ledger, enrolled.deposit, { token: usdc, amountRaw: dollars })
    place = enrolled.place
    return enrolled
  })
  const heldBy = (deposit: PublicKey, token: SplToken) =>
    Effect.map(readHoldings(deposit), ({ tokens }) => tokens.find(({ assetId }) => assetId === idOf(token))?.raw ?? 0n)

  /** A swap at the quote of now, half a percent below it at least. */
  const swapOf = Effect.fnUntraced(function* (sell: SplToken, buy: SplToken, sellAmountRaw: bigint) {
    const [quote] = yield* quoteSwaps([{ sell: idOf(sell), buy: idOf(buy), sellAmountRaw }])
    const expectedBuyRaw = quote!.buyAmountRaw
    const minBuyAmountRaw = (expectedBuyRaw * 9_950n) / 10_000n
    const swap: ReadySwap = {
      sell: idOf(sell),
      buy: idOf(buy),
      sellAmountRaw,
      expectedBuyRaw,
      minBuyAmountRaw,
      execution: quote!.execution
    }
    return swap
  })
  /** What of a grant is read on Solana. */
  const grant = (): Grant => {
    const walletId = `0x${Buffer.from(place.walletId).toString("hex")}`
    const policy = { _tag: "Solana", walletId, roleId: place.roleId }
    return { authorization: { chains: [{ policy }] }, ownerSignature: "" } as unknown as Grant
  }
  const prepare = (...swaps: ReadonlyArray<ReadySwap>) => prepareSwaps({ ...grant(), chainId: solanaChainId, swaps })
  const submitAll = (prepared: PreparedParts) =>
    Effect.forEach(prepared.parts, (_, step) =>
      Effect.map(submitPart(attempt, prepared, step), (outcome) => Option.getOrThrow(outcome))
    )
  const only = Effect.fnUntraced(function* (prepared: PreparedParts) {
    return (yield* submitAll(prepared))[0]!
  })

  it.live(
    "a plan of two swaps trades as planned, the second with what the first brought, and the receipt says so",
    () =>
      run(
        Effect.gen(function* () {
          const { deposit } = yield* funded
          const first = yield* swapOf(usdc, tesla, dollars)
          const second = yield* swapOf(tesla, jup, first.minBuyAmountRaw)
          const prepared = yield* prepare(first, second)
          const rent = yield* (yield* SolanaRpc).minimumRent(250)
          // No recent block took a price for units here.
          assert.strictEqual(prepared.expectedLamports, 2n * (5_000n + rent))
          assert.strictEqual(prepared.maxLamports, 2n * (5_000n + fees.maxPriorityLamports) + 2n * rent)
          const outcomes = yield* submitAll(prepared)
          assert.deepStrictEqual(
            outcomes.map(({ _tag }) => _tag),
            ["Landed", "Landed"]
          )
          const receipt = Option.getOrThrow(stepReceipt(prepared, outcomes))
          assert.isTrue(receipt.success)
          assert.strictEqual(receipt.transactions!.length, 2)
          assert.isUndefined(receipt.unmade)
          const [teslaLeft, bought] = [yield* heldBy(deposit, tesla), yield* heldBy(deposit, jup)]
          assert.isAtLeast(Number(bought), Number(second.minBuyAmountRaw))
          assert.sameDeepMembers(
            [...receipt.deltas],
            [
              { assetId: idOf(usdc), raw: -dollars },
              { assetId: idOf(tesla), raw: teslaLeft },
              { assetId: idOf(jup), raw: bought }
            ]
          )
          const fee = [...recorded.values()].map(({ payload }) =>
            feeOf({ transaction: Buffer.from(JSON.parse(payload).attempt.transaction, "base64") })
          )
          assert.strictEqual(receipt.gasUsed, fee[0]! + fee[1]!)
        })
      )
  )

  it.live("what a plan expects to pay is what is paid, by the prices that its accounts take", () =>
    run(
      Effect.gen(function* () {
        yield* funded
        const rpc = yield* SolanaRpc
        const bids = (keys: ReadonlyArray<PublicKey>) => Effect.succeed([keys.length === 0 ? 0n : 50_000n])
        yield* Effect.gen(function* () {
          const prepared = yield* prepare(yield* swapOf(usdc, tesla, dollars))
          const rent = yield* rpc.minimumRent(250)
          const landed = yield* only(prepared)
          assert.deepInclude(landed, { _tag: "Landed", feeRaw: prepared.expectedLamports! - rent })
          assert.isAbove(Number(prepared.expectedLamports! - rent), 5_000)
        }).pipe(Effect.provideService(SolanaRpc, { ...rpc, recentFees: bids }))
      })
    )
  )

  it.live("what was signed before a crash is sent again, and nothing else is signed", () =>
    run(
      Effect.gen(function* () {
        const { deposit } = yield* funded
        const prepared = yield* prepare(yield* swapOf(usdc, tesla, dollars))
        const landed = yield* only(prepared)
        const [row] = recorded.values()
        const bought = yield* heldBy(deposit, tesla)
        jupiter.asked = []
        assert.deepStrictEqual(yield* only(prepared), landed)
        assert.strictEqual([...recorded.values()][0], row)
        assert.deepStrictEqual(jupiter.asked, [])
        assert.strictEqual(yield* heldBy(deposit, tesla), bought)
      })
    )
  )

  it.live("a transaction that is lost and recorded only is landed by whoever goes on, with the same bytes", () =>
    run(
      Effect.gen(function* () {
        const { deposit } = yield* funded
        const prepared = yield* prepare(yield* swapOf(usdc, tesla, dollars))
        chain.fate = "dropped"
        const open = yield* submitPart(attempt, prepared, 0).pipe(
          Effect.provideService(RelayTiming, {
            searchFor: Duration.millis(50),
            searchInterval: Duration.millis(1),
            holdFor: Duration.minutes(5)
          })
        )
        assert.isTrue(Option.isNone(open))
        const signed = recorded.get("0")!.txHash
        chain.fate = "ok"
        const landed = yield* only(prepared)
        assert.deepInclude(landed, { _tag: "Landed", txHash: signed })
        assert.isAbove(Number(yield* heldBy(deposit, tesla)), 0)
      })
    )
  )

  it.live("new bytes are signed only after those before have expired, five times at most", () =>
    run(
      Effect.gen(function* () {
        const { deposit } = yield* funded
        const prepared = yield* prepare(yield* swapOf(usdc, tesla, dollars))
        chain.fate = "dropped"
        const expired = yield* only(prepared)
        assert.deepInclude(expired, { _tag: "Failed", isSigned: true, included: null })
        assert.match(expired._tag === "Failed" ? expired.reason : "", /5 attempts expired/)
        assert.strictEqual(recorded.get("0")!.number, 5)
        chain.fate = "ok"
        assert.deepInclude(yield* only(prepared), { _tag: "Failed", isSigned: true })
        assert.strictEqual(recorded.get("0")!.number, 5)
        assert.strictEqual(yield* heldBy(deposit, tesla), 0n)
      })
    )
  )

  it.live("a transaction that lands late is found, and has its effect once", () =>
    run(
      Effect.gen(function* () {
        const { deposit } = yield* funded
        const prepared = yield* prepare(yield* swapOf(usdc, tesla, dollars))
        chain.fate = "late"
        const release = Effect.delay(
          Effect.sync(() => chain.intake.release()),
          Duration.millis(5)
        )
        const landed = yield* Effect.raceFirst(only(prepared), Effect.forever(release))
        assert.strictEqual(landed._tag, "Landed")
        assert.strictEqual(recorded.get("0")!.number, 1)
        assert.strictEqual(yield* heldBy(deposit, usdc), 0n)
      })
    )
  )

  it.live("a swap that calls a foreign program when its turn comes is not signed", () =>
    run(
      Effect.gen(function* () {
        yield* funded
        const prepared = yield* prepare(yield* swapOf(usdc, tesla, dollars))
        const programId = Keypair.generate().publicKey.toBase58()
        jupiter.change = (built) => ({ ...built, swapInstruction: { ...built.swapInstruction, programId } })
        const refused = yield* only(prepared)
        assert.deepInclude(refused, { _tag: "Failed", isSigned: false, included: null })
        assert.match(refused._tag === "Failed" ? refused.reason : "", /it calls/)
        assert.strictEqual(recorded.size, 0)
      })
    )
  )

  it.live("an output below the minimum of the plan is not signed, and the account keeps what it has", () =>
    run(
      Effect.gen(function* () {
        const { deposit } = yield* funded
        const swap = yield* swapOf(usdc, tesla, dollars)
        const prepared = yield* prepare(swap)
        // Somebody else buys before: the same dollars bring less than the minimum now.
        const other = yield* enrollSolana(chain, agent, Keypair.generate())
        issue(chain.ledger, other.deposit, { token: usdc, amountRaw: 2_000n * dollars })
        const own = place
        place = other.place
        const push = yield* prepare(yield* swapOf(usdc, tesla, 2_000n * dollars))
        assert.strictEqual((yield* only(push))._tag, "Landed")
        recorded.clear()
        place = own
        const refused = yield* only(prepared)
        assert.deepInclude(refused, { _tag: "Failed", isSigned: false })
        assert.match(refused._tag === "Failed" ? refused.reason : "", /below the minimum/)
        assert.strictEqual(yield* heldBy(deposit, usdc), dollars)
      })
    )
  )

  it.live("a swap that a block takes without effect is reported with its transaction, and the next one is tried", () =>
    run(
      Effect.gen(function* () {
        const { deposit } = yield* funded
        const half = dollars / 2n
        const prepared = yield* prepare(yield* swapOf(usdc, tesla, half), yield* swapOf(usdc, jup, half))
        // Signed for what is held now; the tokens leave before it lands.
        chain.fate = "dropped"
        yield* submitPart(attempt, prepared, 0).pipe(
          Effect.provideService(RelayTiming, {
            searchFor: Duration.millis(20),
            searchInterval: Duration.millis(1),
            holdFor: Duration.minutes(5)
          })
        )
        const { transaction } = JSON.parse(recorded.get("0")!.payload).attempt
        assert.strictEqual(VersionedTransaction.deserialize(Buffer.from(transaction, "base64")).signatures.length, 1)
        chain.fate = "ok"
        const other = { ...attempt, attempt: 2 }
        const kept = recorded
        recorded = new Map()
        const all = yield* swapOf(usdc, jup, dollars)
        const spend = yield* prepare(all)
        assert.strictEqual(Option.getOrThrow(yield* submitPart(other, spend, 0))._tag, "Landed")
        recorded = kept
        const outcomes = yield* submitAll(prepared)
        assert.deepStrictEqual(
          outcomes.map(({ _tag }) => _tag),
          ["Failed", "Failed"]
        )
        const receipt = Option.getOrThrow(stepReceipt(prepared, outcomes))
        assert.isFalse(receipt.success)
        assert.deepStrictEqual(
          receipt.transactions!.map(({ success }) => success),
          [false]
        )
        assert.strictEqual(receipt.txHash, kept.get("0")!.txHash)
        assert.deepStrictEqual(
          receipt.unmade!.map(({ part }) => part),
          [0, 1]
        )
        assert.strictEqual(yield* heldBy(deposit, usdc), 0n)
      })
    )
  )

  it.live("nothing is signed for an operation that is to be cancelled, and there is no receipt then", () =>
    run(
      Effect.gen(function* () {
        yield* funded
        const prepared = yield* prepare(yield* swapOf(usdc, tesla, dollars))
        isCancelled = true
        const outcomes = yield* submitAll(prepared)
        assert.deepStrictEqual(outcomes, [{ _tag: "Cancelled" }])
        assert.isTrue(Option.isNone(stepReceipt(prepared, outcomes)))
      })
    )
  )

  it.live("a batch that Solana cannot include is refused before anything is asked for", () =>
    run(
      Effect.gen(function* () {
        yield* funded
        const swap = yield* swapOf(usdc, tesla, dollars)
        const more = yield* Effect.flip(prepare({ ...swap, minBuyAmountRaw: swap.expectedBuyRaw! + 1n }))
        assert.match(more.message, /below the minimum/)
        const call = { to: EvmAddress.make("0x52908400098527886E0F7030069857D2E4169EE7"), data: "0x" }
        const calls = yield* Effect.flip(prepareSwaps({ ...grant(), chainId: solanaChainId, swaps: [], calls: [call] }))
        assert.match(calls.message, /calls are made on EVM chains alone/)
        jupiter.change = () => undefined
        assert.strictEqual((yield* Effect.flip(prepare(swap)))._tag, "ChainUnavailable")
      })
    )
  )
})
