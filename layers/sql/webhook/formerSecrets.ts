/** Rotated secrets of a webhook, which may still sign, as they are stored: the last in columns, others in JSON. */
import { Schema } from "effect"
import type { FormerSecret } from "#domain/webhook/Webhook.ts"
import { Timestamp } from "#layers/sql/rows.ts"

const Older = Schema.Array(Schema.Struct({ secret: Schema.Uint8ArrayFromHex, until: Schema.DateTimeUtcFromString }))

export const FormerSecretsRow = Schema.Struct({
  previousSecret: Schema.NullOr(Schema.Uint8Array),
  previousUntil: Schema.NullOr(Timestamp),
  olderSecrets: Schema.NullOr(Older)
})

export const formerSecretColumns = `previous_secret AS "previousSecret", previous_until AS "previousUntil",
  older_secrets AS "olderSecrets"`

/** Newest first. */
export const formerSecretsOf = ({
  olderSecrets,
  previousSecret,
  previousUntil
}: typeof FormerSecretsRow.Type): ReadonlyArray<FormerSecret> => [
  ...(previousSecret === null || previousUntil === null ? [] : [{ secret: previousSecret, until: previousUntil }]),
  ...(olderSecrets ?? [])
]

const encode = Schema.encodeSync(Schema.fromJsonString(Older))

/** Writes the parameter of a `jsonb` column; null for none. */
export const olderSecretsJson = (older: ReadonlyArray<FormerSecret>): string | null =>
  older.length === 0 ? null : encode(older)
