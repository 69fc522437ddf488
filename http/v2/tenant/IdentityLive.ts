import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "#domain/identity/Caller.ts"
import { buildWith } from "#domain/effects/buildWith.ts"
import { success } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { V2 } from "#http/v2/Api.ts"

export const IdentityLive = HttpApiBuilder.group(V2, "identity", (handlers) =>
  handlers.handleAll({
    whoami: () =>
      Effect.map(Caller, ({ apiKeyId, scopes, tenantEmail, tenantName }) =>
        success({ tenantName, tenantEmail, apiKeyId, scopes: [...scopes] })
      )
  })
).pipe(buildWith(ApiKeyAuth, EndpointLimit, RequestErrors))
