/**
 * The price attestor: signs prices of tokens that have no feed on their chain, with a key that no other process has. No
 * database. Configured by environment alone (docs/operations.md).
 */
import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import { attestorConfig } from "#src/Config.ts"
import { AttestorService } from "#src/service/AttestorService.ts"
import { runProcess } from "#src/service/runProcess.ts"

const program = Effect.gen(function* () {
  return yield* Layer.launch(AttestorService(yield* attestorConfig))
})

runProcess("attestor", program)
