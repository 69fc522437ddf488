/**
 * Several services in one process, each with a database and a relayer of its own, because starting a process is what
 * costs most. Once every one of them has stopped at its boundary or is done, the process kills itself as `kill -9`
 * would: nothing is closed and nothing ends in order. Without one that has stopped it ends.
 */
import { Cause, Effect } from "effect"
import { runService, type ServiceConfig } from "#test/fault/crash/CrashingService.ts"
import { type Message, reporterOf } from "#test/fault/crash/messages.ts"

const services = JSON.parse(process.env["CRASHING_SERVICES"] ?? "") as ReadonlyArray<ServiceConfig>

let isDoomed = false

const reportAs = (index: number) => {
  const report = reporterOf(index)
  return (message: Message) => {
    if (message._tag === "Stopped") isDoomed = true
    report(message)
  }
}

const program = Effect.gen(function* () {
  yield* Effect.forEach(services, (config, index) => runService(config, reportAs(index)), {
    concurrency: "unbounded",
    discard: true
  })
  if (isDoomed) process.kill(process.pid, "SIGKILL")
}).pipe(
  // Nothing is closed after a failure: a service that has stopped would be waited for, and the failure never reported.
  Effect.tapCause((cause) =>
    Effect.sync(() => {
      console.error(Cause.pretty(cause))
      process.exit(1)
    })
  ),
  Effect.scoped
)

await Effect.runPromise(program)
process.exit(0)
