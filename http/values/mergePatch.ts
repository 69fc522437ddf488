/** A body that may be sent as plain JSON or by the name of its own media type. Source: RFC 7396. */
import type { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

export const mergePatchType = "application/merge-patch+json"

/** The payloads of a route that takes a merge patch. */
export const mergePatch = <S extends Schema.Top>(patch: S) =>
  [patch, patch.pipe(HttpApiSchema.asJson({ contentType: mergePatchType }))] as const
