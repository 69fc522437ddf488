import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "#domain/identity/Caller.ts"
import { scopes } from "#domain/Scopes.ts"
import { success } from "#http/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"

export const MetaLive = HttpApiBuilder.group(V2, "meta", (handlers) =>
  handlers.handleAll({
    whoami: () =>
      Effect.map(Caller, ({ tenantName, tenantEmail, apiKeyId, scopes }) =>
        success({ tenantName, tenantEmail, apiKeyId, scopes: [...scopes] })
      ),
    listScopes: () => Effect.succeed(success({ scopes }))
  })
)
