/** Wallet sessions and used nonces in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type NewSession, type Rotation, SessionStore, type UsedNonce } from "#domain/identity/SessionStore.ts"
import type { SecretHashes } from "#domain/identity/KeyHash.ts"
import { SessionId, TenantId, UserId } from "#domain/values/Ids.ts"
import { memberColumns, MemberRow } from "#layers/sql/identity/UserStore.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

const OpenRow = Schema.Struct({
  userId: UserId,
  tenantId: TenantId,
  sessionId: SessionId,
  openedAt: Timestamp,
  rotatedAt: Timestamp,
  usedAt: Timestamp,
  expiresAt: Timestamp,
  tenantIsDisabled: Schema.Boolean
})

const FoundRow = Schema.Struct({
  ...MemberRow.fields,
  ...OpenRow.fields,
  isCurrent: Schema.Boolean,
  isUnderOther: Schema.Boolean
})

const found = decodeFirst(FoundRow)
const allOpen = decodeRows(OpenRow)

/** Columns of `wallet_sessions s` and `tenants t`. */
const sessionColumns = `s.session_id AS "sessionId", s.created_at AS "openedAt", s.rotated_at AS "rotatedAt",
  s.used_at AS "usedAt", s.expires_at AS "expiresAt", t.disabled_at IS NOT NULL AS "tenantIsDisabled"`

const sessionOf = ({ expiresAt, openedAt, rotatedAt, sessionId, tenantId, usedAt, userId }: typeof OpenRow.Type) => ({
  sessionId,
  userId,
  tenantId,
  createdAt: openedAt,
  rotatedAt,
  usedAt,
  expiresAt
})

/** Expired nonces that each use of one deletes: more than come in, so that they do not pile up. */
const pruneBatchSize = 10

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const use = ({ expiresAt, nonce }: UsedNonce, at: DateTime.Utc) => sql`
    WITH over AS (
      SELECT nonce FROM used_nonces WHERE expires_at < ${timestamp(at)} ORDER BY expires_at
      LIMIT ${pruneBatchSize} FOR UPDATE SKIP LOCKED
    ), forgotten AS (DELETE FROM used_nonces USING over WHERE used_nonces.nonce = over.nonce)
    INSERT INTO used_nonces (nonce, expires_at) VALUES (${nonce}, ${timestamp(expiresAt)})
    ON CONFLICT (nonce) DO NOTHING RETURNING 1`

  const open = Effect.fn("SessionStore.open")(
    function* (session: NewSession, max: number) {
      if ((yield* use(session.nonce, session.createdAt)).length === 0) return false
      yield* sql`
        DELETE FROM wallet_sessions WHERE user_id = ${session.userId} AND session_id NOT IN (
          SELECT session_id FROM wallet_sessions WHERE user_id = ${session.userId} AND ended_at IS NULL
            AND expires_at > ${timestamp(session.createdAt)}
          ORDER BY created_at DESC, session_id DESC LIMIT ${max - 1})`
      yield* sql`
        INSERT INTO wallet_sessions (session_id, tenant_id, user_id, hash, created_at, rotated_at, used_at, expires_at)
        VALUES (${session.sessionId}, ${session.tenantId}, ${session.userId}, ${session.hash},
          ${timestamp(session.createdAt)}, ${timestamp(session.rotatedAt)}, ${timestamp(session.usedAt)},
          ${timestamp(session.expiresAt)})`
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  const find = Effect.fn("SessionStore.find")(({ current, other }: SecretHashes) => {
    const isEither = (column: "hash" | "former_hash") =>
      other === null
        ? sql`s.${sql(column)} = ${current}`
        : sql`(s.${sql(column)} = ${current} OR s.${sql(column)} = ${other})`
    return Effect.map(
      found(sql`
        SELECT ${sql.literal(memberColumns)}, ${sql.literal(sessionColumns)}, ${isEither("hash")} AS "isCurrent",
          s.hash <> ${current} AND s.former_hash IS DISTINCT FROM ${current} AS "isUnderOther"
        FROM wallet_sessions s
        JOIN tenant_members m ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
        JOIN users u ON u.user_id = s.user_id
        JOIN tenants t ON t.tenant_id = s.tenant_id
        WHERE (${isEither("hash")} OR ${isEither("former_hash")}) AND s.ended_at IS NULL`),
      Option.map((row) => {
        const { createdAt, isCurrent, isUnderOther, joinedAt, role, tenantId, tenantIsDisabled, userId, walletId } = row
        const member = { userId, walletId, createdAt, tenantId, role, joinedAt }
        return { member, session: sessionOf(row), tenantIsDisabled, isCurrent, isUnderOther }
      })
    )
  })

  const findOpen = Effect.fn("SessionStore.findOpen")((sessionIds: ReadonlyArray<SessionId>) =>
    Effect.map(
      allOpen(sql`
        SELECT s.user_id AS "userId", s.tenant_id AS "tenantId", ${sql.literal(sessionColumns)}
        FROM wallet_sessions s
        JOIN tenant_members m ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
        JOIN tenants t ON t.tenant_id = s.tenant_id
        WHERE s.session_id = ANY(${sessionIds}::text[]) AND s.ended_at IS NULL`),
      (rows) => rows.map((row) => ({ session: sessionOf(row), tenantIsDisabled: row.tenantIsDisabled }))
    )
  )

  const touch = Effect.fn("SessionStore.touch")(
    (sessionId: SessionId, at: DateTime.Utc) =>
      sql`UPDATE wallet_sessions SET used_at = greatest(used_at, ${timestamp(at)}) WHERE session_id = ${sessionId}`,
    Effect.orDie,
    Effect.asVoid
  )

  const rehash = Effect.fn("SessionStore.rehash")(
    (sessionId: SessionId, from: Uint8Array, to: Uint8Array) =>
      sql`UPDATE wallet_sessions SET hash = ${to} WHERE session_id = ${sessionId} AND hash = ${from}`,
    Effect.orDie,
    Effect.asVoid
  )

  const rotate = Effect.fn("SessionStore.rotate")(
    ({ at, from, sessionId, to }: Rotation) => sql`
      UPDATE wallet_sessions SET hash = ${to}, former_hash = hash, rotated_at = ${timestamp(at)}
      WHERE session_id = ${sessionId} AND hash = ${from} AND ended_at IS NULL RETURNING 1`,
    Effect.orDie,
    Effect.map((rows) => rows.length > 0)
  )

  const end = Effect.fn("SessionStore.end")(
    (sessionId: SessionId, at: DateTime.Utc) => sql`
      UPDATE wallet_sessions SET ended_at = coalesce(ended_at, ${timestamp(at)}) WHERE session_id = ${sessionId}`,
    Effect.orDie,
    Effect.asVoid
  )

  return SessionStore.of({ open, find, findOpen, touch, rehash, rotate, end })
})

export const layer = Layer.effect(SessionStore, make)
