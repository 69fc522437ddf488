import { Effect, Function, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "#domain/identity/Caller.ts"
import { scopes } from "#domain/Scopes.ts"
import { buildWith } from "#http/buildWith.ts"
import { success } from "#http/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { V2 } from "#http/v2/Api.ts"
import { WhoamiAnswer } from "#http/v2/Meta.ts"

const utf8 = new TextEncoder()
const encode = Schema.encodeSync(WhoamiAnswer)

/**
 * Tells nothing that is not the caller's, so it is written once and lives as long as ApiKeys remembers the caller. As
 * bytes, because Node would encode a text again for every request.
 */
const whoami = Function.memoize(({ tenantName, tenantEmail, apiKeyId, scopes }: Caller["Service"]) => {
  const answer = encode(success({ tenantName, tenantEmail, apiKeyId, scopes: [...scopes] }))
  return HttpServerResponse.uint8Array(utf8.encode(JSON.stringify(answer)), { contentType: "application/json" })
})

export const MetaLive = HttpApiBuilder.group(V2, "meta", (handlers) =>
  handlers.handleAll({
    whoami: () => Effect.map(Caller, whoami),
    listScopes: () => Effect.succeed(success({ scopes }))
  })
).pipe(buildWith(ApiKeyAuth, EndpointLimit, RequestErrors))
