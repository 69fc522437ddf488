/** The last prices of assets in PostgreSQL: one row an asset, of whichever process saw the newest. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { type AnsweredPrices, LastPriceStore } from "#domain/market/LastPriceStore.ts"
import { isPlausiblePrice, type Price } from "#domain/market/Prices.ts"
import { Wad } from "#layers/sql/allocationColumns.ts"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const LastPrice = Schema.Struct({
  assetId: AssetId,
  usd: Schema.NullOr(Wad),
  asOf: Schema.NullOr(Timestamp),
  source: Schema.NullOr(Schema.String),
  disputedBy: Schema.NullOr(Schema.String),
  disputedUsd: Schema.NullOr(Wad)
})
const allPrices = decodeRows(LastPrice)

const priceOf = ({ asOf, disputedBy, disputedUsd, source, usd }: typeof LastPrice.Type): Price | null =>
  usd === null || asOf === null
    ? null
    : {
        usd,
        asOf,
        ...(source === null ? {} : { source }),
        ...(disputedBy === null || disputedUsd === null ? {} : { disputedBy: { source: disputedBy, usd: disputedUsd } })
      }

const wad = (usd: bigint) => Decimal.format(usd, 18)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // In the order of their ids, so that two processes that keep the same assets never wait for each other in a circle.
  const keep = Effect.fn("LastPriceStore.keep")(function* (answers: AnsweredPrices, at: DateTime.Utc) {
    const rows = [...answers].flatMap(([assetId, price]) => {
      if (price === null) return [{ id: assetId }]
      const { asOf, disputedBy: other, source, usd } = price
      if (!isPlausiblePrice(usd)) return []
      const dispute =
        other === undefined || !isPlausiblePrice(other.usd) ? {} : { by: other.source, disputed: wad(other.usd) }
      return [{ id: assetId, usd: wad(usd), as_of: timestamp(asOf), source, ...dispute }]
    })
    if (rows.length === 0) return
    yield* sql`
      INSERT INTO last_prices AS kept (asset_id, price_usd, as_of, source, disputed_by, disputed_usd, recorded_at)
      SELECT id, usd, as_of, source, by, disputed, ${timestamp(at)}::timestamptz
      FROM jsonb_to_recordset(${storableJson(rows)}::jsonb)
        AS seen (id text, usd numeric, as_of timestamptz, source text, by text, disputed numeric)
      ORDER BY id COLLATE "C"
      ON CONFLICT (asset_id) DO UPDATE SET price_usd = excluded.price_usd, as_of = excluded.as_of,
        source = excluded.source, disputed_by = excluded.disputed_by, disputed_usd = excluded.disputed_usd,
        recorded_at = excluded.recorded_at
      WHERE excluded.price_usd IS NOT NULL AND (
        kept.as_of IS NULL OR kept.as_of < excluded.as_of
        OR (kept.as_of = excluded.as_of AND (kept.price_usd, kept.disputed_usd)
          IS DISTINCT FROM (excluded.price_usd, excluded.disputed_usd))
      )`
  }, Effect.orDie)

  const read = Effect.fn("LastPriceStore.read")((assetIds: ReadonlyArray<AssetId>) =>
    Effect.map(
      allPrices(sql`
        SELECT asset_id AS "assetId", price_usd::text AS usd, as_of AS "asOf", source, disputed_by AS "disputedBy",
          disputed_usd::text AS "disputedUsd"
        FROM last_prices WHERE asset_id = ANY(${assetIds}::text[])`),
      (rows): AnsweredPrices => new Map(rows.map((row) => [row.assetId, priceOf(row)]))
    )
  )

  return LastPriceStore.of({ keep, read })
})

export const layer = Layer.effect(LastPriceStore, make)
