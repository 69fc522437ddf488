/** Contract: which scopes there are. Source: shapes 2.2. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Scope, ScopeTier } from "#domain/values/Scopes.ts"
import { ok } from "#http/v2/Envelope.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { prose } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"

const ScopeInfo = Schema.Struct({
  name: Scope.annotate({ description: "The scope as `whoami` and errors name it.", examples: ["strategies:read"] }),
  description: prose("What it grants.", 200, "List and view strategies"),
  tier: ScopeTier.annotate({
    description: "`default` comes with each new key, `standard` on request, `restricted` by commercial agreement.",
    examples: ["default"]
  })
}).annotate({ identifier: "Scope", description: "One thing that a key may be allowed to do." })

const scopes = HttpApiEndpoint.get("listScopes", "/scopes", {
  success: ok(Schema.Struct({ scopes: Schema.Array(ScopeInfo).annotate({ description: "All scopes." }) }))
})
  .annotateMerge(
    operation({
      id: "listScopes",
      summary: "List scopes",
      description: "All scopes that a key can hold, in a fixed order.",
      scope: null,
      tier: "global"
    })
  )
  .middleware(RequestErrors)

export const Meta = HttpApiGroup.make("meta")
  .annotate(OpenApi.Title, "Scopes")
  .annotate(OpenApi.Description, "The scopes that keys can hold.")
  .add(scopes)
  .prefix("/v2")
