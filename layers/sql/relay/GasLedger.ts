/** Gas that the service paid for, in PostgreSQL. */
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GasLedger } from "#domain/relay/GasLedger.ts"
import { decodeFirst, Numeric } from "#layers/sql/rows.ts"

const firstSum = decodeFirst(Schema.Struct({ portfolio: Numeric, tenant: Numeric }))

export const layer = Layer.effect(
  GasLedger,
  Effect.map(SqlClient.SqlClient, (sql) =>
    GasLedger.of({
      spent: Effect.fn("GasLedger.spent")(function* ({ portfolioId, tenantId }, now) {
        const day = DateTime.formatIsoDateUtc(now)
        const sums = yield* firstSum(sql`
          SELECT coalesce(max(gas) FILTER (WHERE portfolio_id = ${portfolioId}), 0)::text AS portfolio,
            coalesce(max(gas) FILTER (WHERE portfolio_id = ''), 0)::text AS tenant
          FROM gas_spent
          WHERE tenant_id = ${tenantId} AND day = ${day}::date AND portfolio_id IN (${portfolioId}, '')`)
        return Option.getOrThrow(sums)
      })
    })
  )
)
