/** Gas that the service paid for, in PostgreSQL. */
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GasLedger, type Payee } from "#domain/relay/GasLedger.ts"
import { gathered } from "#layers/sql/gathered.ts"
import { decodeRows, Numeric } from "#layers/sql/rows.ts"

const allSums = decodeRows(Schema.Struct({ portfolio: Numeric, tenant: Numeric }))

interface Asked {
  readonly payee: Payee
  /** Of the day; as PostgreSQL reads a date. */
  readonly day: string
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What all portfolios of a tenant used is a row of its own.
  const spentOf = yield* gathered((asked: ReadonlyArray<Asked>) =>
    allSums(sql`
      SELECT coalesce(own.gas, 0)::text AS portfolio, coalesce(whole.gas, 0)::text AS tenant
      FROM unnest(${asked.map(({ payee }) => payee.tenantId)}::text[],
        ${asked.map(({ payee }) => payee.portfolioId)}::text[], ${asked.map(({ day }) => day)}::text[]::date[]
      ) WITH ORDINALITY AS asked (tenant_id, portfolio_id, day, place)
      LEFT JOIN gas_spent own ON own.tenant_id = asked.tenant_id AND own.day = asked.day
        AND own.portfolio_id = asked.portfolio_id
      LEFT JOIN gas_spent whole ON whole.tenant_id = asked.tenant_id AND whole.day = asked.day
        AND whole.portfolio_id = ''
      ORDER BY asked.place`)
  )

  return GasLedger.of({
    spent: Effect.fn("GasLedger.spent")((payee, now) => spentOf({ payee, day: DateTime.formatIsoDateUtc(now) }))
  })
})

export const layer = Layer.effect(GasLedger, make)
