/** An operation of the benchmark's own, whose events say when they were made, and what its clients answer. */
import { DateTime, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { timeOf } from "#bench/events/delaysIn.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import * as Ids from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"

/** Report of bench/events/clients.ts: connections were opened or closed. */
export const decodeDone = Schema.decodeUnknownEffect(Schema.Struct({ failed: Schema.Literal(0) }))

/** Report of bench/events/clients.ts: events have come, each so many milliseconds after its madeAt. */
export const decodeCounted = Schema.decodeUnknownEffect(
  Schema.Struct({ failed: Schema.Literal(0), delays: Schema.Array(Schema.Finite) })
)

export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

/** A run of the portfolio that nobody runs; `publish` commits an event, timed just before its statement. */
export const timedOperation = Effect.fnUntraced(function* (portfolioId: Ids.PortfolioId) {
  const store = yield* OperationStore
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: TenantId }>`SELECT tenant_id AS id FROM tenants`
  const operationId = yield* Ids.makeOperationId
  const now = yield* DateTime.now
  yield* store.submitManual({ operationId, tenantId: row!.id, portfolioId, now, cooldownMs: 0 })
  yield* store.transition({ operationId, to: "running", at: now, error: null })
  const publish = Effect.gen(function* () {
    const at = yield* DateTime.now
    yield* store.append({
      operationId,
      at,
      kind: "timed",
      payload: timeOf(performance.timeOrigin + performance.now())
    })
  })
  return { operationId, publish }
})
