/**
 * `npm run demo`: takes one user through the service of a running sandbox, and prints the journey; `-- backtest` draws
 * a backtest instead.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { demoConfig } from "#src/Config.ts"
import { Ballast } from "#src/demo/Ballast.ts"
import { backtest } from "#src/demo/backtest.ts"
import { journey } from "#src/demo/journey.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"

const program = Effect.gen(function* () {
  const { controlPort } = yield* demoConfig
  const services = Ballast.layer.pipe(
    Layer.provideMerge(Sandbox.layer(`http://127.0.0.1:${controlPort}`)),
    Layer.provideMerge(FetchHttpClient.layer)
  )
  yield* Effect.provide(process.argv[2] === "backtest" ? backtest : journey, services)
}).pipe(Effect.tapError((error) => Console.error(`\n${error.message}`)))

NodeRuntime.runMain(program, { disableErrorReporting: true })
