/**
 * Waits for a new signature of an owner: records what must be signed, enters `awaiting_user` when a run has nothing
 * else to do, and goes on as soon as another grant counts on a chain and no other run of the portfolio is at work.
 *
 * It sleeps between checks and holds nothing meanwhile; the portfolio is free for runs on its other chains. Past the
 * deadline it gives up.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock, WorkflowEngine } from "effect/workflow"
import { ChainId } from "#domain/values/Caip.ts"
import type { PermissionId } from "#domain/account/Authorization.ts"
import { RequiredSignatures, type SignatureCause } from "#domain/account/RequiredSignatures.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { wakeSignal } from "#domain/operation/wakeSignal.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { RebalanceSettings } from "#domain/rebalance/RebalanceSettings.ts"

/** The poll intervals of a run that waits for a signature. Tests make them shorter. */
export const SignatureRequestTiming = Context.Reference("ballast/domain/rebalance/SignatureRequestTiming", {
  defaultValue: () => ({
    /**
     * The first pause; each is twice the one before, so after a signature within a minute the run goes on within
     * seconds.
     */
    first: Duration.seconds(5),
    max: Duration.minutes(10)
  })
})

/** The event that names the chain that needs a signature; its payload is `{chainId, permissionId, cause, reason}`. */
const signatureRequired = "signature_required"

/** The chain's refusal of the permission that the owner signed. */
export interface PermissionRefusal {
  readonly permissionId: PermissionId
  readonly cause: SignatureCause
  readonly reason: string
}

export interface SignatureWait {
  /** Counts the waits of a run. */
  readonly round: number
  readonly chainIds: ReadonlyArray<ChainId>
  /** The deadline of the whole run's waiting, which its first wait sets. */
  readonly until: DateTime.Utc | undefined
}

/** How a wait ended. */
export interface WaitEnd {
  /** The chains that need a signature still. */
  readonly awaited: ReadonlySet<ChainId>
  /** The deadline of the whole run's waiting. */
  readonly until: DateTime.Utc
  readonly isOver: boolean
  /** The run is to be cancelled. */
  readonly isCancelled: boolean
}

const Check = Schema.Struct({
  at: Schema.DateTimeUtcFromMillis,
  awaited: Schema.Array(ChainId),
  isCancelled: Schema.optionalKey(Schema.Boolean)
})

/**
 * Waits for an owner's new signature inside a run.
 *
 * **When to use**
 *
 * Use in `RebalanceRun`, after a chain refused the agent. `RequiredSignatures` keeps which run waits on which chain.
 */
export class SignatureRequests extends Context.Service<
  SignatureRequests,
  {
    /** False when another run of the portfolio waits on this chain already. Must run inside a workflow. */
    readonly record: (attempt: AttemptId, refusal: PermissionRefusal) => Effect.Effect<boolean, never, InWorkflow>
    /**
     * Ends when one of the chains needs a signature no longer, when the run is to be cancelled, or at the deadline.
     * Must run inside a workflow, with nothing beside it.
     */
    readonly wait: (operationId: OperationId, wait: SignatureWait) => Effect.Effect<WaitEnd, never, InWorkflow>
  }
>()("ballast/domain/rebalance/SignatureRequests") {
  static readonly layer = Layer.effect(
    SignatureRequests,
    Effect.gen(function* () {
      const services = { operations: yield* OperationStore, signatures: yield* RequiredSignatures }
      const { signatureWaitMs } = yield* RebalanceSettings
      return SignatureRequests.of({
        record: makeRecord(services),
        wait: makeWait(services, yield* SignatureRequestTiming, signatureWaitMs)
      })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly signatures: RequiredSignatures["Service"]
}

const makeRecord =
  ({ operations, signatures }: Services) =>
  ({ attempt, chainId, operationId }: AttemptId, { cause, permissionId, reason }: PermissionRefusal) =>
    Activity.make({
      name: `unsigned/${chainId}/${attempt}`,
      success: Schema.Boolean,
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        const required = { operationId, chainId, permissionId, cause, at }
        if (!(yield* signatures.require(required))) return false
        yield* operations.append({
          operationId,
          at,
          kind: signatureRequired,
          payload: { chainId, permissionId, cause, reason }
        })
        return true
      })
    }).annotate(ClusterSchema.WithTransaction, true)

const makeWait = (
  { operations, signatures }: Services,
  { first, max }: typeof SignatureRequestTiming.Service,
  signatureWaitMs: number
) => {
  const pauseAfter = (check: number) => Duration.min(max, Duration.times(first, 2 ** Math.min(check - 1, 20)))

  /** What another chain waited for last may have left the operation in `retrying`. */
  const enter = (operationId: OperationId, round: number) =>
    Activity.make({
      name: `await/${round}`,
      success: Schema.DateTimeUtcFromMillis,
      execute: Effect.gen(function* () {
        const at = yield* DateTime.now
        yield* operations.transition({ operationId, to: "running", at, error: null })
        yield* operations.transition({ operationId, to: "awaiting_user", at, error: null })
        return at
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  const checkFor = (operationId: OperationId, name: string) =>
    Activity.make({
      name: `poll/${name}`,
      success: Check,
      execute: Effect.gen(function* () {
        return {
          at: yield* DateTime.now,
          awaited: yield* signatures.awaitedBy(operationId),
          isCancelled: yield* operations.isCancelRequested(operationId)
        }
      })
    })

  const resume = (operationId: OperationId, name: string) =>
    Activity.make({
      name: `resume/${name}`,
      success: Schema.Boolean,
      execute: Effect.flatMap(DateTime.now, (at) => signatures.resume(operationId, at))
    })

  const sleep = (name: string, duration: Duration.Duration) =>
    DurableClock.sleep({ name, duration, inMemoryThreshold: Duration.zero })

  /** A woken run sleeps no more here: the reason is written before the wake, so the next check is the last. */
  const sleepUnlessWoken = Effect.fnUntraced(function* (name: string, duration: Duration.Duration) {
    const engine = yield* WorkflowEngine.WorkflowEngine
    if (Option.isNone(yield* engine.deferredResult(wakeSignal))) yield* sleep(name, duration)
  })

  return Effect.fnUntraced(function* (operationId: OperationId, { chainIds, round, until: before }: SignatureWait) {
    const began = yield* enter(operationId, round)
    const until = before ?? DateTime.add(began, { milliseconds: signatureWaitMs })
    for (let number = 1; ; number++) {
      const name = `${round}/${number}`
      const check = yield* checkFor(operationId, name)
      const awaited = new Set(check.awaited)
      if (chainIds.some((chainId) => !awaited.has(chainId))) {
        for (let turn = 1; !(yield* resume(operationId, `${round}/${turn}`)); turn++)
          yield* sleep(`turn/${round}/${turn}`, pauseAfter(turn))
        return { awaited, until, isOver: false, isCancelled: false } satisfies WaitEnd
      }
      const isOver = DateTime.isGreaterThanOrEqualTo(check.at, until)
      const isCancelled = check.isCancelled === true
      if (isOver || isCancelled) return { awaited, until, isOver, isCancelled } satisfies WaitEnd
      yield* sleepUnlessWoken(`owner/${name}`, Duration.min(pauseAfter(number), DateTime.distance(check.at, until)))
    }
  })
}
