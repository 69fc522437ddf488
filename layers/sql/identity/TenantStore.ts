/** Tenants and their API keys in PostgreSQL. */
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Environment, environments } from "#domain/identity/KeyEnvironment.ts"
import type { ApiKey, Tenant } from "#domain/identity/Tenant.ts"
import type { SecretHashes } from "#domain/identity/KeyHash.ts"
import { type FoundKey, type KeyRotation, type StoredHash, TenantStore } from "#domain/identity/TenantStore.ts"
import { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import { Scope } from "#domain/values/Scopes.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp, timestampOrNull } from "#layers/sql/rows.ts"

const TenantRow = Schema.Struct({
  tenantId: TenantId,
  name: Schema.String,
  email: Schema.String,
  entitlements: Schema.Array(Schema.String),
  createdAt: Timestamp,
  disabledAt: Schema.NullOr(Timestamp)
})

const ApiKeyRow = Schema.Struct({
  apiKeyId: ApiKeyId,
  tenantId: TenantId,
  name: Schema.String,
  preview: Schema.String,
  scopes: Schema.Array(Scope),
  createdAt: Timestamp,
  expiresAt: Schema.NullOr(Timestamp),
  revokedAt: Schema.NullOr(Timestamp),
  environment: Schema.Literals(environments),
  lastUsedAt: Schema.NullOr(Timestamp),
  replacedBy: Schema.NullOr(ApiKeyId)
})

const firstTenant = decodeFirst(TenantRow)
const allTenants = decodeRows(TenantRow)
const allKeys = decodeRows(ApiKeyRow)

const isScope = Schema.is(Scope)

interface KeyAndTenantRow {
  readonly api_key_id: ApiKeyId
  readonly tenant_id: TenantId
  readonly key_name: string
  readonly preview: string
  readonly scopes: ReadonlyArray<string>
  readonly key_created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly last_used_at: Date | null
  readonly replaced_by: ApiKeyId | null
  readonly pepper: string
  readonly environment: Environment
  readonly tenant_name: string
  readonly email: string
  readonly entitlements: ReadonlyArray<string>
  readonly tenant_created_at: Date
  readonly disabled_at: Date | null
}

const utcOrNull = (date: Date | null) => (date === null ? null : DateTime.makeUnsafe(date))

/** Every request passes here, so the columns are taken as the database typed them. An unknown scope grants nothing. */
const toKeyAndTenant = (row: KeyAndTenantRow): FoundKey => ({
  pepper: row.pepper,
  key: {
    apiKeyId: row.api_key_id,
    tenantId: row.tenant_id,
    name: row.key_name,
    preview: row.preview,
    scopes: row.scopes.filter(isScope),
    createdAt: DateTime.makeUnsafe(row.key_created_at),
    expiresAt: utcOrNull(row.expires_at),
    revokedAt: utcOrNull(row.revoked_at),
    lastUsedAt: utcOrNull(row.last_used_at),
    replacedBy: row.replaced_by,
    environment: row.environment
  },
  tenant: {
    tenantId: row.tenant_id,
    name: row.tenant_name,
    email: row.email,
    entitlements: row.entitlements,
    createdAt: DateTime.makeUnsafe(row.tenant_created_at),
    disabledAt: utcOrNull(row.disabled_at)
  }
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const insertTenant = Effect.fn("TenantStore.insertTenant")(function* (tenant: Tenant) {
    yield* sql`
      INSERT INTO tenants (tenant_id, name, email, entitlements, created_at, disabled_at)
      VALUES (${tenant.tenantId}, ${tenant.name}, ${tenant.email}, ${tenant.entitlements}::text[],
        ${timestamp(tenant.createdAt)}, ${timestampOrNull(tenant.disabledAt)})`
  }, Effect.orDie)

  const columns = `
  tenant_id AS "tenantId", name, email, entitlements, created_at AS "createdAt", disabled_at AS "disabledAt"`
  const selectTenants = sql.literal(`SELECT ${columns} FROM tenants`)

  const findTenant = Effect.fn("TenantStore.findTenant")((tenantId: TenantId) =>
    firstTenant(sql`${selectTenants} WHERE tenant_id = ${tenantId}`)
  )

  const listTenants = allTenants(sql`${selectTenants} ORDER BY created_at, tenant_id`).pipe(
    Effect.withSpan("TenantStore.listTenants")
  )

  const setDisabled = Effect.fn("TenantStore.setDisabled")((tenantId: TenantId, at: DateTime.Utc | null) =>
    firstTenant(sql`
      UPDATE tenants SET disabled_at = ${at === null ? null : sql`coalesce(disabled_at, ${timestamp(at)})`}
      WHERE tenant_id = ${tenantId} RETURNING ${sql.literal(columns)}`)
  )

  const setEntitlements = Effect.fn("TenantStore.setEntitlements")(
    (tenantId: TenantId, entitlements: ReadonlyArray<string>) =>
      firstTenant(sql`
        UPDATE tenants SET entitlements = ${entitlements}::text[]
        WHERE tenant_id = ${tenantId} RETURNING ${sql.literal(columns)}`)
  )

  const setOwner = Effect.fn("TenantStore.setOwner")(function* (tenantId: TenantId, ownerAddress: OwnerAddress | null) {
    const changed = yield* sql`
      UPDATE tenants SET owner_address = ${ownerAddress} WHERE tenant_id = ${tenantId} RETURNING 1`
    return changed.length > 0
  }, Effect.orDie)

  const insertKey = Effect.fn("TenantStore.insertKey")(function* (key: ApiKey, { hash, pepper }: StoredHash) {
    yield* sql`
      INSERT INTO api_keys (api_key_id, tenant_id, name, preview, hash, pepper, scopes, created_at, expires_at,
        revoked_at, environment)
      VALUES (${key.apiKeyId}, ${key.tenantId}, ${key.name}, ${key.preview}, ${hash}, ${pepper}, ${key.scopes}::text[],
        ${timestamp(key.createdAt)}, ${timestampOrNull(key.expiresAt)}, ${timestampOrNull(key.revokedAt)},
        ${key.environment})`
  }, Effect.orDie)

  const selectKeys = sql.literal(`
      SELECT k.api_key_id, k.tenant_id, k.name AS key_name, k.preview, k.scopes, k.created_at AS key_created_at,
        k.expires_at, k.revoked_at, k.last_used_at, k.replaced_by, k.pepper, k.environment, t.name AS tenant_name,
        t.email, t.entitlements, t.created_at AS tenant_created_at,
        t.disabled_at
      FROM api_keys k JOIN tenants t ON t.tenant_id = k.tenant_id`)

  // Both hashes are searched in one statement: two would both miss one that is exchanged meanwhile.
  const findKeyByHash = Effect.fn("TenantStore.findKeyByHash")(function* ({ current, other }: SecretHashes) {
    const [row] = yield* sql<KeyAndTenantRow>`
      ${selectKeys}
      WHERE ${other === null ? sql`k.hash = ${current}` : sql`(k.hash = ${current} OR k.hash = ${other})`}`
    return Option.map(Option.fromUndefinedOr(row), toKeyAndTenant)
  }, Effect.orDie)

  const findKeys = Effect.fn("TenantStore.findKeys")(function* (apiKeyIds: ReadonlyArray<ApiKeyId>) {
    const rows = yield* sql<KeyAndTenantRow>`${selectKeys} WHERE k.api_key_id = ANY(${apiKeyIds}::text[])`
    return rows.map(toKeyAndTenant)
  }, Effect.orDie)

  const rehashKey = Effect.fn("TenantStore.rehashKey")(
    (apiKeyId: ApiKeyId, { hash, pepper }: StoredHash) =>
      sql`UPDATE api_keys SET hash = ${hash}, pepper = ${pepper} WHERE api_key_id = ${apiKeyId}`,
    Effect.orDie,
    Effect.asVoid
  )

  const replaceKey = Effect.fn("TenantStore.replaceKey")(
    function* ({ apiKeyId, endsAt, hash, next }: KeyRotation) {
      const [old] = yield* sql`
        SELECT 1 FROM api_keys WHERE api_key_id = ${apiKeyId} AND tenant_id = ${next.tenantId} AND revoked_at IS NULL
          AND replaced_by IS NULL FOR UPDATE`
      if (old === undefined) return false
      yield* insertKey(next, hash)
      yield* sql`
        UPDATE api_keys SET replaced_by = ${next.apiKeyId}, expires_at = least(expires_at, ${timestamp(endsAt)})
        WHERE api_key_id = ${apiKeyId}`
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  const listKeys = Effect.fn("TenantStore.listKeys")((tenantId: TenantId) =>
    allKeys(sql`
      SELECT api_key_id AS "apiKeyId", tenant_id AS "tenantId", name, preview, scopes, created_at AS "createdAt",
        expires_at AS "expiresAt", revoked_at AS "revokedAt", environment, last_used_at AS "lastUsedAt",
        replaced_by AS "replacedBy"
      FROM api_keys WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, api_key_id DESC`)
  )

  // In the order of ids, so that two processes that note the same keys do not wait for each other in a circle.
  const noteUses = Effect.fn("TenantStore.noteUses")(function* (uses: ReadonlyMap<ApiKeyId, DateTime.Utc>) {
    const sorted = [...uses].sort(([one], [other]) => (one < other ? -1 : 1))
    yield* sql`
      UPDATE api_keys k SET last_used_at = used.at
      FROM (
        SELECT k.api_key_id, u.at
        FROM unnest(${sorted.map(([id]) => id)}::text[], ${sorted.map(([, at]) => timestamp(at))}::timestamptz[])
          AS u (api_key_id, at) JOIN api_keys k USING (api_key_id)
        WHERE k.last_used_at IS NULL OR k.last_used_at < u.at
        ORDER BY k.api_key_id FOR NO KEY UPDATE OF k
      ) used
      WHERE k.api_key_id = used.api_key_id`
  }, Effect.orDie)

  const revokeKey = Effect.fn("TenantStore.revokeKey")(function* (
    tenantId: TenantId,
    apiKeyId: ApiKeyId,
    at: DateTime.Utc
  ) {
    const revoked = yield* sql`
      UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${timestamp(at)})
      WHERE api_key_id = ${apiKeyId} AND tenant_id = ${tenantId} RETURNING 1`
    return revoked.length > 0
  }, Effect.orDie)

  return TenantStore.of({
    insertTenant,
    findTenant,
    listTenants,
    setDisabled,
    setEntitlements,
    setOwner,
    insertKey,
    findKeyByHash,
    findKeys,
    rehashKey,
    replaceKey,
    listKeys,
    noteUses,
    revokeKey
  })
})

export const layer = Layer.effect(TenantStore, make)
