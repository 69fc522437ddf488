/**
 * Middleware: on every procedure of clients, so that a database that is away is one of its errors, on each wire, and no
 * fault of the service. An answer that has not come in time is the same error, over Effect's RPC.
 */
import { Effect, ErrorReporter, Layer } from "effect"
import { RpcMiddleware } from "effect/rpc"
import { Unavailable } from "#domain/errors/Errors.ts"
import { databaseAway, isOfStorage, TransientFault } from "#domain/errors/TransientFault.ts"

export class DatabaseInReach extends RpcMiddleware.Service<DatabaseInReach>()("ballast/rpc/DatabaseInReach", {
  error: Unavailable
}) {}

/** Its cause is reported in its place. */
const reported = () => Object.assign(databaseAway(), { [ErrorReporter.ignore]: true })

export const DatabaseInReachLive = Layer.effect(
  DatabaseInReach,
  Effect.map(TransientFault, (isTransient) =>
    DatabaseInReach.of((handled) =>
      Effect.catchCause(handled, (cause) =>
        isOfStorage(cause, isTransient)
          ? Effect.andThen(ErrorReporter.report(cause), Effect.fail(reported()))
          : Effect.failCause(cause)
      )
    )
  )
)
