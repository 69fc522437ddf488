/** Gas that the service paid for, in PostgreSQL. */
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GasLedger, type Payee } from "#domain/relay/GasLedger.ts"
import { batchedStatement } from "#layers/sql/batchedStatement.ts"
import { decodeRows, Numeric } from "#layers/sql/rows.ts"

const allSums = decodeRows(Schema.Struct({ portfolio: Numeric, tenant: Numeric, owner: Numeric }))

interface Requested {
  readonly payee: Payee
  /** Day as PostgreSQL reads a date. */
  readonly day: string
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What all portfolios of a tenant used is a row of its own.
  const spentOf = yield* batchedStatement((requested: ReadonlyArray<Requested>) =>
    allSums(sql`
      SELECT coalesce(own.gas, 0)::text AS portfolio, coalesce(whole.gas, 0)::text AS tenant,
        coalesce(own.owner_gas, 0)::text AS owner
      FROM unnest(${requested.map(({ payee }) => payee.tenantId)}::text[],
        ${requested.map(({ payee }) => payee.portfolioId)}::text[], ${requested.map(({ day }) => day)}::text[]::date[]
      ) WITH ORDINALITY AS requested (tenant_id, portfolio_id, day, place)
      LEFT JOIN gas_spent own ON own.tenant_id = requested.tenant_id AND own.day = requested.day
        AND own.portfolio_id = requested.portfolio_id
      LEFT JOIN gas_spent whole ON whole.tenant_id = requested.tenant_id AND whole.day = requested.day
        AND whole.portfolio_id = ''
      ORDER BY requested.place`)
  )

  return GasLedger.of({
    spent: (payee, now) => spentOf({ payee, day: DateTime.formatIsoDateUtc(now) })
  })
})

export const layer = Layer.effect(GasLedger, make)
