/** Port: starts the durable run of an accepted operation, whatever its kind. Launching twice is the same as once. */
import { Context, type Effect } from "effect"
import type { OperationId } from "#domain/values/Ids.ts"
import type { OperationKind } from "#domain/operation/Operation.ts"

/** What a launch needs of an operation. */
export interface Launch {
  readonly operationId: OperationId
  readonly kind: OperationKind
}

/**
 * Starts and wakes durable runs.
 *
 * **When to use**
 *
 * Use after the transaction that accepted the operation, never inside it. A launch that is lost is found again by
 * `Scheduler`.
 *
 * **Example** (A launcher that records what was launched)
 *
 * ```ts
 * import { Effect, Layer, Ref } from "effect"
 * import type { OperationId } from "#domain/values/Ids.ts"
 * import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
 *
 * const Recording = (launched: Ref.Ref<ReadonlyArray<OperationId>>) =>
 *   Layer.succeed(OperationLauncher, {
 *     launch: ({ operationId }) => Ref.update(launched, (ids) => [...ids, operationId]),
 *     wake: () => Effect.void,
 *     capacity: Effect.succeed(1)
 *   })
 * ```
 */
export class OperationLauncher extends Context.Service<
  OperationLauncher,
  {
    readonly launch: (operation: Launch) => Effect.Effect<void>
    /** Ends the wait of a run, which checks at once whether it is to go on. A hint: it polls by itself as well. */
    readonly wake: (operation: Launch) => Effect.Effect<void>
    /** How many runs this process would begin now; what is launched beyond that waits for its turn. */
    readonly capacity: Effect.Effect<number>
  }
>()("ballast/domain/operation/OperationLauncher") {}
