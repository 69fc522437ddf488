import { Effect, Function, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "#domain/identity/Caller.ts"
import { success } from "#http/Envelope.ts"
import { answerDirectly } from "#http/answerDirectly.ts"
import { Identity, WhoamiAnswer } from "#http/v2/Identity.ts"

const encode = Schema.encodeSync(WhoamiAnswer)

/** Tells nothing that is not the caller's, so it is written once and lives as long as ApiKeys remembers the caller. */
const answerTo = Function.memoize(({ tenantName, tenantEmail, apiKeyId, scopes }: Caller["Service"]) =>
  HttpServerResponse.jsonUnsafe(encode(success({ tenantName, tenantEmail, apiKeyId, scopes: [...scopes] })))
)

export const IdentityLive = answerDirectly(Identity, "whoami", Effect.map(Caller, answerTo))
