/**
 * The operator's command line: `npm run cli -- tenants create --name <name> --email <address>`, and `--help` for the
 * rest.
 *
 * Tenants and keys: works on the database of the environment it is started in, or through the service that is running
 * on it. Operations: through the API of the service at BALLAST_URL, with a tenant's key in BALLAST_API_KEY.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Layer, Logger, References } from "effect"
import { CliError, Command } from "effect/cli"
import { adminAccess } from "#src/cli/adminAccess.ts"
import { ballast } from "#src/cli/commands.ts"
import manifest from "../package.json" with { type: "json" }

/** What the layers below have to say goes to standard error, so that standard output holds the answer alone. */
const quiet = Layer.mergeAll(Layer.succeed(References.MinimumLogLevel, "Warn"), Layer.succeed(Logger.LogToStderr, true))

const explain = (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  const error = Cause.squash(cause)
  if (CliError.isCliError(error)) return Effect.void
  return Console.error(error instanceof Error ? error.message : Cause.pretty(cause))
}

// Access is opened when a command runs, so help and mistakes in the arguments need no database.
ballast(adminAccess).pipe(
  Command.run({ version: manifest.version }),
  Effect.tapCause(explain),
  Effect.provide(quiet),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
