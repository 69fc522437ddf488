/**
 * `npm run demo`: takes one user through the service of a running sandbox, and prints the journey; `-- solana` takes an
 * owner through Solana and out again without the service, `-- backtest` draws a backtest.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { demoConfig } from "#src/Config.ts"
import { Ballast } from "#src/demo/Ballast.ts"
import { backtest } from "#src/demo/backtest.ts"
import { journey } from "#src/demo/journey.ts"
import { solanaJourney } from "#src/demo/solanaJourney.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"

/** The tenant of the sandbox that may use Solana. */
const solanaTenant = "Contoso"

const program = Effect.gen(function* () {
  const { controlPort } = yield* demoConfig
  const command = process.argv[2]
  const tenant = command === "solana" ? solanaTenant : undefined
  const services = Ballast.layer.pipe(
    Layer.provideMerge(Sandbox.layer(`http://127.0.0.1:${controlPort}`, tenant)),
    Layer.provideMerge(FetchHttpClient.layer)
  )
  if (command === "backtest") yield* Effect.provide(backtest, services)
  else if (command === "solana") yield* Effect.provide(solanaJourney, services)
  else yield* Effect.provide(journey, services)
}).pipe(Effect.tapError((error) => Console.error(`\n${error.message}`)))

NodeRuntime.runMain(program, { disableErrorReporting: true })
