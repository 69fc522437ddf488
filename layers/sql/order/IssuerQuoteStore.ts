/** Quotes of issuers, in PostgreSQL. */
import { type DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { IssuerQuoteStore, type QuotedTrade, type StoredIssuerQuote } from "#domain/order/IssuerQuoteStore.ts"
import { timestamp } from "#layers/sql/rows.ts"

/** Quotes of one portfolio that are kept at a time. */
const kept = 20

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const keep = Effect.fn("IssuerQuoteStore.keep")(
    function* (quote: StoredIssuerQuote, now: DateTime.Utc) {
      const { amountRaw, buy, expiresAt, portfolioId, quoteId, receiveRaw, sell } = quote
      // One quote of a portfolio after the other, so that what is kept is counted right.
      yield* sql`SELECT 1 FROM portfolios WHERE portfolio_id = ${portfolioId} FOR NO KEY UPDATE`
      yield* sql`
        INSERT INTO issuer_quotes (portfolio_id, quote_id, sell, buy, amount_raw, receive_raw, expires_at)
        VALUES (${portfolioId}, ${quoteId}, ${sell}, ${buy}, ${`${amountRaw}`}::numeric, ${`${receiveRaw}`}::numeric,
          ${timestamp(expiresAt)})`
      yield* sql`
        DELETE FROM issuer_quotes WHERE portfolio_id = ${portfolioId} AND (expires_at <= ${timestamp(now)}
          OR quote_id NOT IN (
            SELECT quote_id FROM issuer_quotes WHERE portfolio_id = ${portfolioId}
            ORDER BY expires_at DESC, (quote_id = ${quoteId}) DESC LIMIT ${kept}
          ))`
    },
    sql.withTransaction,
    Effect.orDie
  )

  const holds = Effect.fn("IssuerQuoteStore.holds")(
    ({ amountRaw, buy, portfolioId, receiveRaw, sell }: QuotedTrade, now: DateTime.Utc) =>
      Effect.map(
        Effect.orDie(sql`
          SELECT 1 FROM issuer_quotes
          WHERE portfolio_id = ${portfolioId} AND sell = ${sell} AND buy = ${buy}
            AND amount_raw = ${`${amountRaw}`}::numeric AND receive_raw = ${`${receiveRaw}`}::numeric
            AND expires_at > ${timestamp(now)} LIMIT 1`),
        (rows) => rows.length > 0
      )
  )

  return IssuerQuoteStore.of({ keep, holds })
})

export const layer = Layer.effect(IssuerQuoteStore, make)
