/**
 * Runs a program of the service as a process: what ends it is logged once, an error by its message and a defect with
 * its cause.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"

export const runProcess = <E extends { readonly message: string }>(name: string, program: Effect.Effect<never, E>) =>
  program.pipe(
    Effect.tapError((error) => Console.error(error.message)),
    Effect.tapDefect((defect) => Effect.logFatal("The process ended by a fault of the service", defect)),
    Effect.annotateLogs({ process: name }),
    NodeRuntime.runMain({ disableErrorReporting: true })
  )
