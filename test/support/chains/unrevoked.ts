/** The port of revocations where no owner revokes. */
import { Effect, Layer } from "effect"
import { RevocationExecution } from "#domain/revocation/RevocationExecution.ts"

const never = Effect.die(new Error("no owner revokes here"))

export const unrevoked = Layer.succeed(
  RevocationExecution,
  RevocationExecution.of({ draft: () => never, hasEnded: () => never, prepare: () => never, find: () => never })
)
