import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { scopes } from "#domain/values/Scopes.ts"
import { buildWith } from "#domain/effects/buildWith.ts"
import { success } from "#http/v2/Envelope.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { V2 } from "#http/v2/Api.ts"

export const MetaLive = HttpApiBuilder.group(V2, "meta", (handlers) =>
  handlers.handleAll({ listScopes: () => Effect.succeed(success({ scopes })) })
).pipe(buildWith(RequestErrors))
