/** Withdrawals through the port of the domain, from what was accepted to the receipt, under faults. */
import { afterAll, assert, beforeAll, beforeEach, it } from "@effect/vitest"
import { Keypair, type PublicKey } from "@solana/web3.js"
import { DateTime, Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"
import * as Base58 from "#domain/values/Base58.ts"
import { solanaAccount, solanaChainId } from "#domain/values/Caip.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { type OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { CancelRequested } from "#domain/operation/CancelRequested.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { type RecordedPart, PartJournal } from "#domain/relay/PartJournal.ts"
import { stepReceipt } from "#domain/relay/submitParts.ts"
import type { PreparedParts } from "#domain/relay/Transaction.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import { submitPart, ResendEvery } from "#layers/solana/execution/submitPart.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { solanaTerms } from "#layers/solana/solanaTerms.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { SolanaWithdrawalsLive } from "#layers/solana/execution/SolanaWithdrawalsLive.ts"
import { installMints, issue, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import { amountIn } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { type Losses, losses } from "#test/layers/solana/losses.ts"
import { enrollSolana, fees, newAgent, whileBlocksPass } from "#test/layers/solana/owners.ts"
import type { TestChain } from "#test/sandbox/solana/support.ts"

const { landingSeconds } = solanaTerms
const title = "Ballast Withdrawal Authorization"
const attempt = { operationId: `op_${"1".repeat(26)}` as OperationId, chainId: solanaChainId, attempt: 1 }
const seconds = () => Math.floor(Date.now() / 1_000)

eachSwig("withdrawals that are carried out", (start) => {
  let chain: TestChain
  let agent: ReturnType<typeof newAgent>
  let recorded: Map<number, RecordedPart & { readonly txHash: string }>
  let isCancelled: boolean
  const loss: Losses = { lostAt: null }

  beforeAll(async () => {
    chain = await start()
    agent = newAgent(chain)
    installMints(chain.ledger)
  })
  beforeEach(() => {
    chain.fate = "ok"
    recorded = new Map()
    isCancelled = false
    loss.lostAt = null
  })
  afterAll(() => chain.close())

  const journal = Layer.succeed(PartJournal, {
    latest: ({ part }) => Effect.sync(() => Option.fromUndefinedOr(recorded.get(part))),
    record: ({ part }, _, row) =>
      isCancelled && row.number === 1 && row.isLanded !== true
        ? Effect.fail(new CancelRequested({ operationId: attempt.operationId }))
        : Effect.sync(() => void recorded.set(part, row))
  })
  /** None of the other family's answers is asked for. */
  const others = Layer.merge(
    Layer.mock(WithdrawalTransactions, {}),
    Layer.mock(WithdrawalVerifier, { selfSubmission: () => Option.none(), nativeDigest: () => Option.none() })
  )
  const clients = Layer.suspend(() =>
    Layer.mergeAll(
      SolanaRpc.layer([Redacted.make(chain.url)]),
      JupiterClient.layer({ baseUrl: chain.url, apiKey: null, requestsPerSecond: 1_000 }),
      Layer.succeed(SolanaAgent, { signing: Effect.succeed({ agent, fees }) }),
      journal
    )
  )
  const unrecorded = UnrecordedTransactions.layer.pipe(Layer.provide(losses(loss)))
  const run = <A, E>(
    effect: Effect.Effect<
      A,
      E,
      SolanaRpc | JupiterClient | SolanaAgent | PartJournal | UnrecordedTransactions | WithdrawalTransactions
    >
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
          SolanaWithdrawalsLive.pipe(Layer.provide(others), Layer.provideMerge(unrecorded), Layer.provideMerge(clients))
        )
      )
    )
  const held = (owner: PublicKey) => amountIn(chain.ledger.account(tokenAccount(usdc, owner))?.data)

  const accepted = Effect.fnUntraced(function* (expiresAt: number) {
    const owner = Keypair.generate()
    const { deposit, place } = yield* enrollSolana(chain, agent, owner)
    issue(chain.ledger, deposit, { token: usdc, amountRaw: 100n })
    const to = Keypair.generate().publicKey
    const message: WithdrawalMessage = {
      portfolioId: PortfolioId.make("pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"),
      recipientAccountId: solanaAccount(to.toBase58()),
      assets: [{ assetId: usdc.assetId, amountRaw: "40" }],
      nonce: `0x${"5a".repeat(32)}`,
      expiresAt
    }
    const text = new TextEncoder().encode(withdrawalText(title, message))
    const policy = {
      _tag: "Solana",
      walletId: `0x${Buffer.from(place.walletId).toString("hex")}`,
      roleId: place.roleId
    }
    const authorization = {
      ownerAccountId: solanaAccount(owner.publicKey.toBase58()),
      withdrawalDomainName: title,
      chains: [{ policy }]
    }
    const withdrawal = {
      accountId: solanaAccount(deposit.toBase58()),
      message,
      signature: Base58.encode(Ed25519.sign(owner.secretKey.slice(0, 32), text)),
      grant: { authorization },
      acceptedAtBlock: 1n
    } as unknown as StoredWithdrawal
    return { deposit, to, withdrawal }
  })
  const prepare = (withdrawal: StoredWithdrawal) =>
    Effect.flatMap(WithdrawalTransactions, (execution) => execution.prepare(withdrawal)).pipe(
      Effect.map((prepared) => prepared as PreparedParts)
    )
  const submit = (prepared: PreparedParts) => submitPart(attempt, prepared, 0)
  const only = (prepared: PreparedParts) => Effect.map(submit(prepared), Option.getOrThrow)
  const hurried = Effect.provideService(RelayTiming, {
    searchFor: Duration.millis(50),
    searchInterval: Duration.millis(1),
    holdFor: Duration.minutes(5)
  })

  it.live("what was asked for leaves, and counts when its block is final; asked again nothing more is signed", () =>
    run(
      Effect.gen(function* () {
        const { deposit, to, withdrawal } = yield* accepted(seconds() + 600)
        const prepared = yield* prepare(withdrawal)
        const landed = yield* only(prepared)
        assert.deepInclude(landed, { _tag: "Landed", deltas: [{ assetId: usdc.assetId, raw: -40n }] })
        assert.isAbove(Number(chain.ledger.slot - (landed as { readonly slot: bigint }).slot), 31)
        const [row] = recorded.values()
        assert.deepStrictEqual(yield* only(prepared), landed)
        assert.strictEqual([...recorded.values()][0], row)
        assert.deepStrictEqual([held(to), held(deposit)], [40n, 60n])
        const receipt = Option.getOrThrow(stepReceipt(prepared, [landed]))
        const { delivered } = yield* WithdrawalTransactions
        assert.deepStrictEqual(yield* delivered(withdrawal, receipt), [{ assetId: usdc.assetId, raw: 40n }])
      })
    )
  )

  it.live("bytes that were lost on their way are sent again by whoever goes on, and move the assets once", () =>
    run(
      Effect.gen(function* () {
        const { to, withdrawal } = yield* accepted(seconds() + 600)
        const prepared = yield* prepare(withdrawal)
        chain.fate = "dropped"
        assert.isTrue(Option.isNone(yield* hurried(submit(prepared))))
        const signed = recorded.get(0)!.txHash
        chain.fate = "ok"
        assert.deepInclude(yield* only(prepared), { _tag: "Landed", txHash: signed })
        assert.strictEqual(held(to), 40n)
      })
    )
  )

  it.live(`nothing is signed in the last ${landingSeconds} seconds before the expiry, whatever was prepared`, () =>
    run(
      Effect.gen(function* () {
        const { deposit, to, withdrawal } = yield* accepted(seconds() + landingSeconds + 2)
        const prepared = yield* prepare(withdrawal)
        yield* Effect.sleep(Duration.seconds(4))
        const refused = yield* only(prepared)
        assert.deepInclude(refused, { _tag: "Failed", isSigned: false, included: null })
        assert.match(refused._tag === "Failed" ? refused.reason : "", /expires before/)
        assert.deepStrictEqual([held(to), held(deposit), recorded.size], [0n, 100n, 0])
        const { standing } = yield* WithdrawalTransactions
        assert.strictEqual((yield* standing(withdrawal))._tag, "Closed")
      })
    )
  )

  it.live("a step whose words were altered after the owner signed them is not signed", () =>
    run(
      Effect.gen(function* () {
        const { deposit, withdrawal } = yield* accepted(seconds() + 600)
        const prepared = yield* prepare(withdrawal)
        const step = prepared.parts[0].replace('"amountRaw":"40"', '"amountRaw":"41"')
        assert.notStrictEqual(step, prepared.parts[0])
        const refused = yield* only({ ...prepared, parts: [step] })
        assert.deepInclude(refused, { _tag: "Failed", isSigned: false })
        assert.match(refused._tag === "Failed" ? refused.reason : "", /not the owner's/)
        assert.strictEqual(held(deposit), 100n)
      })
    )
  )

  it.live("what left without a record is not sent again: neither by its run, nor for the same authorization", () =>
    run(
      Effect.gen(function* () {
        const { deposit, to, withdrawal } = yield* accepted(seconds() + 600)
        const prepared = yield* prepare(withdrawal)
        const landed = yield* only(prepared)
        assert.strictEqual(landed._tag, "Landed")
        loss.lostAt = yield* DateTime.now
        recorded.clear()
        const { standing } = yield* WithdrawalTransactions
        const waiting = yield* Effect.flip(standing(withdrawal))
        assert.match(waiting.message, /may lack records/)
        assert.isTrue(Option.isNone(yield* submit(prepared)), "nothing is signed before that can no longer land")
        assert.strictEqual(recorded.size, 0)
        const shown = yield* Effect.retry(standing(withdrawal), Schedule.spaced("20 millis"))
        const txHash = landed._tag === "Landed" ? landed.txHash : ""
        assert.deepInclude(shown._tag === "Landed" ? shown.receipt : {}, {
          txHash,
          deltas: [{ assetId: usdc.assetId, raw: -40n }]
        })
        assert.deepStrictEqual(yield* only(prepared), landed, "the run that was prepared before")
        const other = { ...attempt, operationId: `op_${"2".repeat(26)}` as OperationId }
        recorded.clear()
        const again = Option.getOrThrow(yield* submitPart(other, prepared, 0))
        assert.deepInclude(again, { _tag: "Landed", txHash })
        assert.deepStrictEqual([held(to), held(deposit)], [40n, 60n])
      })
    )
  )

  it.live("nothing is signed for an operation that is to be cancelled", () =>
    run(
      Effect.gen(function* () {
        const { deposit, withdrawal } = yield* accepted(seconds() + 600)
        const prepared = yield* prepare(withdrawal)
        isCancelled = true
        assert.deepStrictEqual(yield* only(prepared), { _tag: "Cancelled" })
        assert.strictEqual(held(deposit), 100n)
      })
    )
  )
})
