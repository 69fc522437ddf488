/** Port: starts the durable run of an accepted operation. Launching twice is the same as once. */
import { Context, type Effect } from "effect"
import type { OperationId } from "#domain/Ids.ts"

export class RunLauncher extends Context.Service<
  RunLauncher,
  { readonly launch: (operationId: OperationId) => Effect.Effect<void> }
>()("ballast/domain/rebalance/RunLauncher") {}
