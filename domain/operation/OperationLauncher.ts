/** Port: starts the durable run of an accepted operation, whatever its kind. Launching twice is the same as once. */
import { Context, type Effect } from "effect"
import type { OperationId } from "#domain/Ids.ts"
import type { OperationKind } from "#domain/operation/Operation.ts"

/** What a launch needs to know of an operation. */
export interface Launch {
  readonly operationId: OperationId
  readonly kind: OperationKind
}

export class OperationLauncher extends Context.Service<
  OperationLauncher,
  {
    readonly launch: (operation: Launch) => Effect.Effect<void>
    /** Lets a run that waits for somebody look at once whether it is to go on. A hint: it looks by itself as well. */
    readonly wake: (operation: Launch) => Effect.Effect<void>
    /** How many runs this process would begin at once; what is launched beyond that waits for its turn. */
    readonly capacity: Effect.Effect<number>
  }
>()("ballast/domain/operation/OperationLauncher") {}
