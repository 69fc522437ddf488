/** Requests that clients named, and their answers, in PostgreSQL. */
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import {
  IdempotencyKeys,
  idempotencyKeyRetention,
  type KeyClaim,
  type KeyState,
  type NamedRequest,
  type StoredAnswer
} from "#domain/identity/IdempotencyKeys.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"

const firstKey = decodeFirst(
  Schema.Struct({
    isSame: Schema.Boolean,
    status: Schema.NullOr(Schema.Int),
    answer: Schema.NullOr(Schema.Uint8Array)
  })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const named = ({ key, route, tenantId }: NamedRequest) =>
    sql`tenant_id = ${tenantId} AND route = ${route} AND key = ${key}`

  /** The row of a new key, of one that is too old, or of the same request whose process has died. */
  const take = ({ claimId, now, request, until }: KeyClaim) => {
    const [at, old] = [timestamp(now), timestamp(DateTime.subtractDuration(now, idempotencyKeyRetention))]
    return sql`
      INSERT INTO idempotency_keys AS k (tenant_id, route, key, fingerprint, claim_id, claimed_until, created_at)
      VALUES (${request.tenantId}, ${request.route}, ${request.key}, ${request.fingerprint}, ${claimId},
        ${timestamp(until)}, ${at})
      ON CONFLICT (tenant_id, route, key) DO UPDATE SET fingerprint = excluded.fingerprint,
      claim_id = excluded.claim_id,
        claimed_until = excluded.claimed_until, created_at = excluded.created_at, status = NULL, answer = NULL
      WHERE k.created_at <= ${old}
        OR (k.status IS NULL AND k.claimed_until <= ${at} AND k.fingerprint = excluded.fingerprint)
      RETURNING 1`
  }

  const claim = Effect.fn("IdempotencyKeys.claim")(function* (requested: KeyClaim) {
    if ((yield* Effect.orDie(take(requested))).length > 0) return { _tag: "Claimed" } satisfies KeyState
    const found = yield* firstKey(sql`
      SELECT fingerprint = ${requested.request.fingerprint} AS "isSame", status, answer
      FROM idempotency_keys WHERE ${named(requested.request)}`)
    // Released between the two statements: the next call finds it free.
    if (Option.isNone(found)) return { _tag: "InProgress" } satisfies KeyState
    const { answer, isSame, status } = found.value
    if (!isSame) return { _tag: "Mismatch" } satisfies KeyState
    if (status === null || answer === null) return { _tag: "InProgress" } satisfies KeyState
    return { _tag: "Answered", answer: { status, body: answer } } satisfies KeyState
  })

  const complete = Effect.fn("IdempotencyKeys.complete")(function* (
    { claimId, request }: KeyClaim,
    { body, status }: StoredAnswer
  ) {
    const completed = yield* sql`
      UPDATE idempotency_keys SET status = ${status}, answer = ${body}
      WHERE ${named(request)} AND claim_id = ${claimId} RETURNING 1`
    return completed.length > 0
  }, Effect.orDie)

  const release = Effect.fn("IdempotencyKeys.release")(
    ({ claimId, request }: KeyClaim) => sql`
      DELETE FROM idempotency_keys WHERE ${named(request)} AND claim_id = ${claimId} AND status IS NULL`,
    Effect.asVoid,
    Effect.orDie
  )

  const atomically = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catch(sql.withTransaction(effect), (error) =>
      error instanceof SqlError ? Effect.die(error) : Effect.fail(error as E)
    )

  const prune = Effect.fn("IdempotencyKeys.prune")(function* (before: DateTime.Utc, limit: number) {
    const removed = yield* sql`
      DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM idempotency_keys WHERE created_at <= ${timestamp(before)} ORDER BY created_at LIMIT ${limit}
      )) RETURNING 1`
    return removed.length
  }, Effect.orDie)

  return IdempotencyKeys.of({ claim, complete, release, atomically, prune })
})

export const layer = Layer.effect(IdempotencyKeys, make)
