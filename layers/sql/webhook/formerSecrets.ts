/** Rotated secrets of a webhook that may still sign, as the column `former_secrets` has them, newest first. */
import { Schema } from "effect"
import type { FormerSecret } from "#domain/webhook/Webhook.ts"

export const FormerSecrets = Schema.Array(
  Schema.Struct({ secret: Schema.Uint8ArrayFromHex, until: Schema.DateTimeUtcFromString })
)

const encode = Schema.encodeSync(Schema.fromJsonString(FormerSecrets))

/** Writes the parameter of a `jsonb` column. */
export const formerSecretsJson = (secrets: ReadonlyArray<FormerSecret>): string => encode(secrets)
