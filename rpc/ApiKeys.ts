/**
 * Contract: a signed-in user manages the API keys of the tenant. Source: interface "Authentication" 2; shapes 2.1 and
 * V.
 */
import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { NotFound, PermissionDenied, ValidationFailed } from "#domain/errors/Errors.ts"
import { ApiKeyId } from "#domain/values/Ids.ts"
import { Scope } from "#domain/values/Scopes.ts"
import { utcFromText } from "#domain/values/UtcFromText.ts"
import { isVisibleName } from "#domain/values/VisibleName.ts"
import { HiddenDefect } from "#rpc/publicProcedure.ts"
import { SessionAccess } from "#rpc/session/SessionAccess.ts"

const defect = HiddenDefect

const key = {
  apiKeyId: ApiKeyId,
  name: Schema.String,
  /** First characters of the secret, by which a person recognizes the key. */
  preview: Schema.String,
  scopes: Schema.Array(Scope),
  createdAt: Schema.String,
  expiresAt: Schema.NullOr(Schema.String)
}

const Name = Schema.String.check(
  Schema.isBetweenCodePoints(1, 256, { expected: "1 to 256 characters" }),
  isVisibleName
).annotate({ examples: ["Production"] })

export const ApiKeyProcedures = RpcGroup.make(
  // `apiKey` is the secret; this answer is the only place where it is ever shown.
  Rpc.make("apiKeys.create", {
    payload: {
      name: Name,
      /** Scopes beside those that every key has. */
      scopes: Schema.Array(Scope).check(Schema.isMaxLength(64)),
      expiresAt: Schema.optionalKey(Schema.NullOr(utcFromText()))
    },
    success: Schema.Struct({ ...key, apiKey: Schema.String }),
    error: Schema.Union([PermissionDenied, ValidationFailed]),
    defect
  }),
  Rpc.make("apiKeys.list", {
    success: Schema.Struct({
      keys: Schema.Array(
        Schema.Struct({
          ...key,
          revokedAt: Schema.NullOr(Schema.String),
          /** Last use, within a quarter of a minute; null before the first. */
          lastUsedAt: Schema.NullOr(Schema.String)
        })
      )
    }),
    defect
  }),
  Rpc.make("apiKeys.revoke", {
    payload: { apiKeyId: ApiKeyId },
    success: Schema.Struct({ apiKeyId: ApiKeyId, revoked: Schema.Literal(true) }),
    error: Schema.Union([PermissionDenied, NotFound]),
    defect
  })
).middleware(SessionAccess)
