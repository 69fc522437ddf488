/**
 * The market-data stream worker: tickets, snapshots and sockets of docs/stream.md. No database. Configured by
 * environment alone (docs/operations.md).
 */
import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import { streamWorkerConfig } from "#src/Config.ts"
import { runProcess } from "#src/service/runProcess.ts"
import { StreamWorkerService } from "#src/service/StreamWorkerService.ts"

const program = Effect.gen(function* () {
  return yield* Layer.launch(StreamWorkerService(yield* streamWorkerConfig))
})

runProcess("stream", program)
