/**
 * One step, exactly once: the transaction that the journal has, or a new one, is sent until the chain has decided.
 * Before each signature the step is built and checked anew, against the plan that was prepared; how, and what a
 * transaction that landed did, is for the kind of the step.
 */
import { ComputeBudgetProgram, VersionedTransaction } from "@solana/web3.js"
import { Context, DateTime, Duration, Effect, Option, Schema } from "effect"
import { SplAssetId } from "#domain/Caip.ts"
import type { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import type { StepOutcome } from "#domain/relay/StepCarrier.ts"
import { StepJournal } from "#domain/relay/StepJournal.ts"
import type { PreparedSteps } from "#domain/relay/Transaction.ts"
import { signatureLamports } from "#layers/solana/execution/prepareSwaps.ts"
import { kindOf } from "#layers/solana/execution/StepKind.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { decodeStep } from "#layers/solana/execution/SolanaStep.ts"
import { Attempt, type AttemptJournal } from "#layers/solana/lifecycle/Attempt.ts"
import { executeAttempts, type Concluded } from "#layers/solana/lifecycle/executeAttempts.ts"
import { signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import { priorityLamports } from "#layers/solana/lifecycle/priorityFee.ts"
import { ByteReader } from "#layers/solana/swig/ByteReader.ts"
import type { Amounts } from "#layers/solana/trading/prepareSwap.ts"

/** The pause between two sendings of the same bytes. Tests make it shorter. */
export const ResendEvery = Context.Reference("ballast/layers/solana/ResendEvery", {
  defaultValue: () => Duration.seconds(2)
})

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
  return BigInt(signatures.length) * signatureLamports + priorityLamports(units, price)
}

type Failed = Extract<StepOutcome, { readonly _tag: "Failed" }>

export const carryStep = Effect.fn("solana.carryStep")(function* (
  attemptId: AttemptId,
  prepared: PreparedSteps,
  place: number
) {
  const { agent, fees } = yield* (yield* SolanaAgent).signing
  const journal = yield* StepJournal
  const { searchFor } = yield* RelayTiming
  const resendEvery = yield* ResendEvery
  const id = { attempt: attemptId, step: place }
  const step = yield* Effect.orDie(decodeStep(prepared.steps[place]!))
  const kind = kindOf(step, { agent, fees })

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

  const make = kind.build.pipe(
    Effect.tap((built) => Effect.sync(() => (before = built.before))),
    Effect.flatMap(({ prepared: built }) => signedByAgent(agent, built))
  )

  const landed = Effect.fnUntraced(function* ({ attempt, outcome }: Concluded) {
    const included = { txHash: attempt.signature, slot: outcome.slot, feeRaw: feeOf(attempt) }
    if (outcome._tag === "Failed") {
      const reason = `Solana took the transaction ${attempt.signature} without effect: ${JSON.stringify(outcome.error)}`
      return { _tag: "Failed", isSigned: true, reason, included } satisfies Failed
    }
    const known = Option.getOrThrow(yield* recorded)
    const deltas = yield* kind.changes(known.before, outcome.slot)
    return { _tag: "Landed", ...included, deltas } satisfies StepOutcome
  })

  const failed = ({ message }: { readonly message: string }) =>
    Effect.map(journal.latest(id), (last): Option.Option<StepOutcome> =>
      Option.some({ _tag: "Failed", isSigned: Option.isSome(last), reason: message, included: null })
    )

  return yield* executeAttempts(attempts, make, {
    commitment: kind.commitment,
    resendEvery,
    waitAtMost: searchFor
  }).pipe(
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
      TransactionDoesNotFit: failed,
      WithdrawalRefused: failed
    })
  )
})
