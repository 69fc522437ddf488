/** Refused requests in PostgreSQL. */
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "#domain/values/Cursor.ts"
import { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import {
  type RefusedRequest,
  type RefusedRequestFilter,
  RefusedRequestStore
} from "#domain/request/RefusedRequestStore.ts"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const allRequests = decodeRows(
  Schema.Struct({
    tenantId: TenantId,
    apiKeyId: ApiKeyId,
    at: Timestamp,
    requestId: Schema.String,
    correlationId: Schema.String,
    method: Schema.String,
    route: Schema.String,
    status: Schema.Int,
    code: Schema.NullOr(Schema.String),
    message: Schema.NullOr(Schema.String),
    milliseconds: Schema.Number
  })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const insert = Effect.fn("RefusedRequestStore.insert")(function* (requests: ReadonlyArray<RefusedRequest>) {
    if (requests.length === 0) return
    const rows = requests.map(({ at, ...request }) => ({ ...request, at: DateTime.formatIso(at) }))
    yield* sql`
      INSERT INTO refused_requests (tenant_id, at, request_id, correlation_id, api_key_id, method, route, status, code,
        message, milliseconds)
      SELECT "tenantId", at, "requestId", "correlationId", "apiKeyId", method, route, status, code, message,
      milliseconds
      FROM jsonb_to_recordset(${storableJson(rows)}::jsonb) AS r ("tenantId" text, at timestamptz, "requestId" text,
        "correlationId" text, "apiKeyId" text, method text, route text, status integer, code text, message text,
        milliseconds double precision)
      ON CONFLICT DO NOTHING`
  }, Effect.orDie)

  // Each filter has an index in the order of the list; with both, that of the key is walked.
  const list = Effect.fn("RefusedRequestStore.list")((
    tenantId: TenantId,
    { apiKeyId, code, since }: RefusedRequestFilter,
    { after, limit }: PageRequest
  ) => {
    const conditions = [sql`tenant_id = ${tenantId}`]
    if (apiKeyId !== undefined) conditions.push(sql`api_key_id = ${apiKeyId}`)
    if (code !== undefined) conditions.push(sql`code = ${code}`)
    if (since !== undefined) conditions.push(sql`at >= ${timestamp(since)}`)
    if (after !== null) conditions.push(sql`(at, request_id) < (${timestamp(after.createdAt)}, ${after.id})`)
    return allRequests(sql`
      SELECT tenant_id AS "tenantId", api_key_id AS "apiKeyId", at, request_id AS "requestId",
        correlation_id AS "correlationId", method, route, status, code, message, milliseconds
      FROM refused_requests WHERE ${sql.and(conditions)} ORDER BY at DESC, request_id DESC LIMIT ${limit + 1}`)
  })

  const prune = Effect.fn("RefusedRequestStore.prune")(function* (before: DateTime.Utc, limit: number) {
    const removed = yield* sql`
      DELETE FROM refused_requests WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM refused_requests WHERE at < ${timestamp(before)} ORDER BY at LIMIT ${limit}
      )) RETURNING 1`
    return removed.length
  }, Effect.orDie)

  return RefusedRequestStore.of({ insert, list, prune })
})

export const layer = Layer.effect(RefusedRequestStore, make)
