/**
 * One part, exactly once: the transaction that the journal has, or a new one, is sent until the chain has decided.
 * Before each signature the part is built and checked anew, against the plan that was prepared; how, and what a
 * transaction that landed did, is for the kind of the part.
 */
import { ComputeBudgetProgram, VersionedTransaction } from "@solana/web3.js"
import { Context, DateTime, Duration, Effect, Option } from "effect"
import type { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import type { PartOutcome } from "#domain/relay/PartRelay.ts"
import { type PartId, PartJournal } from "#domain/relay/PartJournal.ts"
import type { PreparedParts } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { encodeRecorded, latestOf, type RecordedAttempt, recordOf } from "#layers/solana/execution/RecordedAttempt.ts"
import { kindOf, type StepKind } from "#layers/solana/execution/StepKind.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { decodeStep } from "#layers/solana/execution/SolanaStep.ts"
import type { Attempt, AttemptJournal } from "#layers/solana/lifecycle/Attempt.ts"
import { executeAttempts, type Concluded } from "#layers/solana/lifecycle/executeAttempts.ts"
import { signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import { priorityLamports, signatureLamports } from "#layers/solana/lifecycle/priorityFee.ts"
import { ByteReader } from "#layers/solana/swig/ByteReader.ts"

/** The pause between two sendings of the same bytes. Tests make it shorter. */
export const ResendEvery = Context.Reference("ballast/layers/solana/ResendEvery", {
  defaultValue: () => Duration.seconds(2)
})

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

/** The first transaction that did the part and is recorded for none of the attempt's parts. */
const findLanded = Effect.fnUntraced(function* (kind: StepKind, steps: ReadonlyArray<PartId>) {
  const unrecorded = yield* UnrecordedTransactions
  const found = yield* unrecorded.find(kind.tag, kind.account)
  if (found.length === 0) return Option.none()
  const records = yield* Effect.forEach(steps, latestOf)
  const known = new Set(records.filter(Option.isSome).map(({ value }) => value.attempt.signature))
  return Option.fromUndefinedOr(found.find((one) => kind.isDoneBy(one) && !known.has(one.signature)))
})

type Failed = Extract<PartOutcome, { readonly _tag: "Failed" }>

export const submitPart = Effect.fn("solana.submitPart")(function* (
  attemptId: AttemptId,
  prepared: PreparedParts,
  place: number
) {
  yield* spanIsAbout(attemptId)
  const { agent, fees } = yield* (yield* SolanaAgent).signing
  const journal = yield* PartJournal
  const { searchFor } = yield* RelayTiming
  const resendEvery = yield* ResendEvery
  const id = { attempt: attemptId, part: place }
  const step = yield* Effect.orDie(decodeStep(prepared.parts[place]!))
  const kind = kindOf(step, { agent, fees, operationId: attemptId.operationId })
  const recorded = latestOf(id)

  let made: Omit<RecordedAttempt, "attempt"> & { readonly isLanded?: boolean } = { before: [] }
  const attempts: AttemptJournal<CancelRequested, PartJournal> = {
    latest: Effect.map(
      recorded,
      Option.map(({ attempt, number }) => ({ attempt, count: number }))
    ),
    record: Effect.fnUntraced(function* (attempt) {
      const { isLanded = false, ...held } = made
      const last = yield* recorded
      yield* journal.record(id, prepared, {
        number: Option.match(last, { onNone: () => 1, onSome: ({ number }) => number + 1 }),
        txHash: attempt.signature,
        payload: encodeRecorded({ attempt, ...held }),
        at: yield* DateTime.now,
        isLanded
      })
    })
  }

  const sign = Effect.gen(function* () {
    const { before, prepared: built } = yield* kind.build
    made = { before }
    return yield* signedByAgent(agent, built)
  })

  /** What has landed without a record is recorded in place of what would be signed. */
  const make = Effect.gen(function* () {
    const landed = yield* findLanded(
      kind,
      prepared.parts.map((_, at) => ({ attempt: attemptId, part: at }))
    )
    if (Option.isNone(landed)) return yield* sign
    yield* Effect.logWarning("Solana shows a transaction of this step that is not recorded", {
      txHash: landed.value.signature
    })
    const { attempt, ...held } = recordOf(landed.value)
    made = { ...held, isLanded: true }
    return attempt
  })

  const landed = Effect.fnUntraced(function* ({ attempt, outcome }: Concluded) {
    const included = { txHash: attempt.signature, slot: outcome.slot, feeRaw: feeOf(attempt) }
    if (outcome._tag === "Failed") {
      const reason = `Solana took the transaction ${attempt.signature} without effect: ${JSON.stringify(outcome.error)}`
      return { _tag: "Failed", isSigned: true, reason, included } satisfies Failed
    }
    const known = Option.getOrThrow(yield* recorded)
    const deltas = yield* kind.changes(known, outcome.slot)
    return { _tag: "Landed", ...included, deltas } satisfies PartOutcome
  })

  const failed = ({ message }: { readonly message: string }) =>
    Effect.map(journal.latest(id), (last): Option.Option<PartOutcome> =>
      Option.some({ _tag: "Failed", isSigned: Option.isSome(last), reason: message, included: null })
    )

  return yield* executeAttempts(attempts, make, {
    commitment: kind.commitment,
    resendEvery,
    waitAtMost: searchFor
  }).pipe(
    Effect.flatMap(landed),
    Effect.map((outcome): Option.Option<PartOutcome> => Option.some(outcome)),
    Effect.catchTags({
      LossUnsettled: ({ message }) => Effect.as(Effect.logInfo(message), Option.none<PartOutcome>()),
      OutcomeUnknown: ({ message }) => Effect.as(Effect.logInfo(message), Option.none<PartOutcome>()),
      CancelRequested: () => Effect.succeed(Option.some<PartOutcome>({ _tag: "Cancelled" })),
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
