/**
 * One step, exactly once: the transaction that the journal has, or a new one, is sent until the chain has decided; then
 * balances before and after say what it did. Before each signature the step is built and checked anew, against the plan
 * that was prepared.
 */
import { ComputeBudgetProgram, VersionedTransaction } from "@solana/web3.js"
import { Context, DateTime, Duration, Effect, Option, Schedule, Schema } from "effect"
import { SplAssetId } from "#domain/Caip.ts"
import type { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import type { StepOutcome } from "#domain/relay/StepCarrier.ts"
import { StepJournal } from "#domain/relay/StepJournal.ts"
import type { PreparedSteps } from "#domain/relay/Transaction.ts"
import { addressesOf } from "#layers/solana/enrollment/Flow.ts"
import { signatureLamports, tradeOf } from "#layers/solana/execution/prepareSwaps.ts"
import { SolanaSigning } from "#layers/solana/execution/SolanaSigning.ts"
import { decodeStep, type SolanaStep } from "#layers/solana/execution/SolanaStep.ts"
import { Attempt, type AttemptJournal } from "#layers/solana/lifecycle/Attempt.ts"
import { carryOut, type Concluded } from "#layers/solana/lifecycle/carryOut.ts"
import { signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import { ByteReader } from "#layers/solana/swig/ByteReader.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { readMints } from "#layers/solana/token/readMints.ts"
import { type Amounts, amountsOf, prepareSwap, swapResult } from "#layers/solana/trading/prepareSwap.ts"

/** The pause between two sendings of the same bytes. Tests make it shorter. */
export const ResendEvery = Context.Reference("ballast/layers/solana/ResendEvery", {
  defaultValue: () => Duration.seconds(2)
})

/** A provider that does not answer is asked for some seconds: nothing of the step may land while it is. */
const askAgain = Schedule.exponential(Duration.millis(500)).pipe(Schedule.upTo({ times: 3 }))

/** What is written down of a transaction: its bytes, and what the account held before it. */
const Recorded = Schema.Struct({
  attempt: Attempt,
  before: Schema.Array(Schema.Struct({ assetId: SplAssetId, raw: Schema.BigIntFromString }))
})
const recordedText = Schema.fromJsonString(Schema.toCodecJson(Recorded))
const encodeRecorded = Schema.encodeSync(recordedText)
const decodeRecorded = Schema.decodeEffect(recordedText)

const limitTag = 2
const priceTag = 3

/** Lamports that a transaction of the agent costs, whether it has an effect or not: the chain charges the limit. */
export const feeOf = ({ transaction }: Pick<Attempt, "transaction">): bigint => {
  const { message, signatures } = VersionedTransaction.deserialize(transaction)
  let [units, price] = [0n, 0n]
  for (const { data, programIdIndex } of message.compiledInstructions) {
    if (message.staticAccountKeys[programIdIndex]?.equals(ComputeBudgetProgram.programId) !== true) continue
    const reader = new ByteReader(data, "compute budget")
    const tag = reader.u8()
    if (tag === limitTag) units = BigInt(reader.u32())
    if (tag === priceTag) price = reader.u64()
  }
  return BigInt(signatures.length) * signatureLamports + (units * price + 999_999n) / 1_000_000n
}

type Failed = Extract<StepOutcome, { readonly _tag: "Failed" }>

export const carryStep = Effect.fn("solana.carryStep")(function* (
  attemptId: AttemptId,
  prepared: PreparedSteps,
  place: number
) {
  const { agent, fees } = yield* SolanaSigning
  const journal = yield* StepJournal
  const { searchFor } = yield* RelayTiming
  const resendEvery = yield* ResendEvery
  const id = { attempt: attemptId, step: place }
  const step = yield* Effect.orDie(decodeStep(prepared.steps[place]!))
  const account = addressesOf(step.place).deposit

  const recorded = Effect.flatMap(
    journal.latest(id),
    Option.match({
      onNone: () => Effect.succeedNone,
      onSome: ({ number, payload }) =>
        Effect.map(Effect.orDie(decodeRecorded(payload)), (one) => Option.some({ ...one, number }))
    })
  )

  let before: Amounts = []
  const attempts: AttemptJournal<CancelRequested> = {
    latest: Effect.map(
      recorded,
      Option.map(({ attempt, number }) => ({ attempt, count: number }))
    ),
    record: Effect.fnUntraced(function* (attempt) {
      const last = yield* recorded
      yield* journal.record(id, prepared, {
        number: Option.match(last, { onNone: () => 1, onSome: ({ number }) => number + 1 }),
        txHash: attempt.signature,
        payload: encodeRecorded({ attempt, before }),
        at: yield* DateTime.now
      })
    })
  }

  const buildSwap = (slippageBps: number) =>
    Effect.gen(function* () {
      const mints = yield* readMints([step.sell, step.buy])
      return yield* prepareSwap({ ...tradeOf(step, mints), slippageBps, agent, fees })
    }).pipe(Effect.retry({ while: ({ _tag }) => _tag === "ProviderUnavailable", schedule: askAgain }))

  // A quote that fell since the plan leaves less room above the floor, and the next one is asked without slippage.
  const make = buildSwap(step.slippageBps).pipe(
    Effect.catchTag("SwapRefused", (refused) => (step.slippageBps === 0 ? Effect.fail(refused) : buildSwap(0))),
    Effect.tap((built) => Effect.sync(() => (before = amountsOf(built.before)))),
    Effect.flatMap((built) => signedByAgent(agent, built))
  )

  const landed = Effect.fnUntraced(function* ({ attempt, outcome }: Concluded) {
    const included = { txHash: attempt.signature, slot: outcome.slot, feeRaw: feeOf(attempt) }
    if (outcome._tag === "Failed") {
      const reason = `Solana took the transaction ${attempt.signature} without effect: ${JSON.stringify(outcome.error)}`
      return { _tag: "Failed", isSigned: true, reason, included } satisfies Failed
    }
    const after = yield* readHoldings(account, { atLeastSlot: outcome.slot })
    const known = Option.getOrThrow(yield* recorded)
    const deltas = yield* changesOf(step, known.before, amountsOf(after))
    return { _tag: "Landed", ...included, deltas } satisfies StepOutcome
  })

  const failed = ({ message }: { readonly message: string }) =>
    Effect.map(journal.latest(id), (last): Option.Option<StepOutcome> =>
      Option.some({ _tag: "Failed", isSigned: Option.isSome(last), reason: message, included: null })
    )

  return yield* carryOut(attempts, make, { commitment: "confirmed", resendEvery, waitAtMost: searchFor }).pipe(
    Effect.flatMap(landed),
    Effect.map((outcome): Option.Option<StepOutcome> => Option.some(outcome)),
    Effect.catchTags({
      OutcomeUnknown: ({ message }) => Effect.as(Effect.logInfo(message), Option.none<StepOutcome>()),
      CancelRequested: () => Effect.succeed(Option.some<StepOutcome>({ _tag: "Cancelled" })),
      AttemptsExpired: failed,
      BytesRefused: failed,
      ProviderUnavailable: ({ reason }) => failed({ message: reason }),
      SimulationFailed: failed,
      SwapRefused: failed,
      TransactionDoesNotFit: failed
    })
  )
})

/** Changes of what the step is about. The log says where they are not those of the swap alone. */
const changesOf = Effect.fnUntraced(function* (step: SolanaStep, before: Amounts, after: Amounts) {
  const { boughtRaw, isAsPlanned, soldRaw } = swapResult(step, before, after)
  if (!isAsPlanned) {
    yield* Effect.logWarning("A swap landed, and the balances around it are not those of the swap alone").pipe(
      Effect.annotateLogs({ soldRaw, boughtRaw, sellRaw: step.sellRaw, minBuyRaw: step.minBuyRaw })
    )
  }
  return [
    { assetId: step.sell, raw: -soldRaw },
    { assetId: step.buy, raw: boughtRaw }
  ]
})
