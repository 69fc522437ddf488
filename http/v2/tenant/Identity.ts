/** Contract: the tenant of the key. Source: shapes 2.1. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Scope } from "#domain/values/Scopes.ts"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { prose, written } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"

const Whoami = Schema.Struct({
  tenantName: prose("Name of the tenant that the key belongs to.", 512, "Northwind"),
  tenantEmail: prose("Where the tenant is reached.", 320, "ops@northwind.example"),
  apiKeyId: written(
    "Id of the key; not a secret.",
    /^key_[0-7][0-9A-HJKMNP-TV-Z]{25}$/u,
    "key_01JQ8ZQ4T6V8X0Z2B4D6F8H0K2"
  ),
  scopes: Schema.Array(Scope).annotate({
    description: "What the key may do.",
    examples: [["strategies:read", "portfolios:read"]]
  })
}).annotate({ identifier: "Whoami", description: "The tenant and the key of the call." })

const whoami = HttpApiEndpoint.get("whoami", "/whoami", { success: ok(Whoami) })
  .annotateMerge(
    operation({
      id: "whoami",
      summary: "Show the tenant and the key",
      description: "The tenant of the key and what the key may do; use it to test a key.",
      tier: "global"
    })
  )
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)

export const Identity = HttpApiGroup.make("identity")
  .annotate(OpenApi.Title, "Key and tenant")
  .annotate(OpenApi.Description, "The calling key and its tenant.")
  .add(whoami)
  .prefix("/v2")
