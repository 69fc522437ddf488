/** Daily prices and the assets they are recorded of, in PostgreSQL. Days travel as whole days since 1970-01-01. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { DailyPriceStore, type GapQuery, type KnownHistory } from "#domain/market/DailyPriceStore.ts"
import type { DayPrice } from "#domain/market/PriceHistory.ts"
import { Wad } from "#layers/sql/allocationColumns.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"

const allAssets = decodeRows(Schema.Struct({ assetId: AssetId }))
const allGaps = decodeRows(Schema.Struct({ assetId: AssetId, completeThrough: Schema.NullOr(Day.Day) }))
const allSeries = decodeRows(
  Schema.Struct({ assetId: AssetId, days: Schema.Array(Day.Day), prices: Schema.Array(Wad) })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const daysToDate = sql.literal("DATE '1970-01-01' +")
  const dateToDays = sql.literal("- DATE '1970-01-01'")

  // In the order of their ids, so that two processes that insert the same assets never wait for each other in a circle.
  const track = Effect.fn("DailyPriceStore.track")(
    (since: DateTime.Utc, now: DateTime.Utc) => sql`
      INSERT INTO tracked_assets (asset_id, tracked_at)
      SELECT named.asset_id, ${timestamp(now)}
      FROM (
        SELECT DISTINCT target ->> 'assetId' AS asset_id
        FROM strategy_versions v, jsonb_array_elements(v.allocation) AS target
        WHERE v.created_at >= ${timestamp(since)}
      ) AS named
      ORDER BY named.asset_id
      ON CONFLICT DO NOTHING`,
    Effect.asVoid,
    Effect.orDie
  )

  const unpriced = Effect.fn("DailyPriceStore.unpriced")((day: Day.Day) =>
    Effect.map(
      allAssets(sql`
        SELECT t.asset_id AS "assetId" FROM tracked_assets t
        WHERE NOT EXISTS (
          SELECT FROM asset_daily_prices p WHERE p.asset_id = t.asset_id AND p.day = ${daysToDate} ${day}::int
        ) ORDER BY t.asset_id`),
      (rows) => rows.map(({ assetId }) => assetId)
    )
  )

  const claimGaps = Effect.fn("DailyPriceStore.claimGaps")(({
    among,
    completeThrough,
    limit,
    now,
    triedBefore
  }: GapQuery) => {
    const conditions = [
      sql`(attempted_at IS NULL OR attempted_at <= ${timestamp(triedBefore)})`,
      sql`(complete_through IS NULL OR complete_through < ${daysToDate} ${completeThrough}::int)`
    ]
    if (among !== undefined) conditions.push(sql`asset_id = ANY(${among}::text[])`)
    return allGaps(sql`
        WITH gaps AS MATERIALIZED (
          SELECT asset_id FROM tracked_assets WHERE ${sql.and(conditions)}
          ORDER BY attempted_at NULLS FIRST, asset_id LIMIT ${limit} FOR UPDATE SKIP LOCKED
        )
        UPDATE tracked_assets t SET attempted_at = ${timestamp(now)}
        FROM gaps WHERE t.asset_id = gaps.asset_id
        RETURNING t.asset_id AS "assetId", t.complete_through ${dateToDays} AS "completeThrough"`)
  })

  const insert = (prices: ReadonlyArray<readonly [AssetId, DayPrice]>, at: DateTime.Utc) =>
    sql`
      INSERT INTO asset_daily_prices (asset_id, day, price_usd, recorded_at)
      SELECT asset_id, ${daysToDate} day, price_usd, ${timestamp(at)}
      FROM unnest(${prices.map(([assetId]) => assetId)}::text[], ${prices.map(([, { day }]) => day)}::int[],
        ${prices.map(([, { usd }]) => Decimal.format(usd, 18))}::numeric[]) AS known (asset_id, day, price_usd)
      ORDER BY asset_id, day
      ON CONFLICT DO NOTHING`

  const recordHistory = Effect.fn("DailyPriceStore.recordHistory")(
    function* ({ assetId, at, completeThrough, prices }: KnownHistory) {
      yield* insert(
        prices.map((price) => [assetId, price]),
        at
      )
      yield* sql`
        UPDATE tracked_assets SET complete_through = ${daysToDate} ${completeThrough}::int
        WHERE asset_id = ${assetId}`
    },
    sql.withTransaction,
    Effect.orDie
  )

  const recordDay = Effect.fn("DailyPriceStore.recordDay")(
    function* (day: Day.Day, prices: ReadonlyMap<AssetId, bigint>, at: DateTime.Utc) {
      yield* insert(
        [...prices].map(([assetId, usd]) => [assetId, { day, usd }]),
        at
      )
      yield* sql`
        UPDATE tracked_assets SET complete_through = ${daysToDate} ${day}::int
        WHERE asset_id = ANY(${[...prices.keys()]}::text[])
        AND complete_through = ${daysToDate} ${Day.add(day, -1)}::int`
    },
    sql.withTransaction,
    Effect.orDie
  )

  const read = Effect.fn("DailyPriceStore.read")((assetIds: ReadonlyArray<AssetId>, from: Day.Day) =>
    Effect.map(
      allSeries(sql`
        SELECT asset_id AS "assetId", array_agg(day ${dateToDays}) AS days, array_agg(price_usd::text) AS prices
        FROM asset_daily_prices
        WHERE asset_id = ANY(${assetIds}::text[]) AND day >= ${daysToDate} ${from}::int
        GROUP BY asset_id`),
      (rows): ReadonlyMap<AssetId, ReadonlyMap<Day.Day, bigint>> =>
        new Map(
          rows.map(({ assetId, days, prices }) => [
            assetId,
            new Map(days.map((day, index) => [day, prices[index]!] as const))
          ])
        )
    )
  )

  return DailyPriceStore.of({ track, unpriced, claimGaps, recordHistory, recordDay, read })
})

export const layer = Layer.effect(DailyPriceStore, make)
