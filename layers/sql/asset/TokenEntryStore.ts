/** Which listed tokens are two entries to one balance, in PostgreSQL. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type EntryJudgement, type EntryPair, TokenEntryStore } from "#domain/asset/TokenEntryStore.ts"
import { AssetId } from "#domain/values/Caip.ts"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

const allJudged = decodeRows(
  Schema.Struct({ main: AssetId, other: AssetId, areOne: Schema.NullOr(Schema.Boolean), judgedAt: Timestamp })
)
const allNamed = decodeRows(Schema.Struct({ assetId: AssetId }))

/** Puts a pair into the index's order. */
const inOrder = ({ one, other }: EntryPair): readonly [AssetId, AssetId] => (one < other ? [one, other] : [other, one])

const columns = `main_id AS main, other_id AS other, are_one AS "areOne", judged_at AS "judgedAt"`

export const layer = Layer.effect(
  TokenEntryStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const judged = Effect.fn("TokenEntryStore.judged")((pairs: ReadonlyArray<EntryPair>) =>
      allJudged(sql`
        SELECT ${sql.literal(columns)} FROM token_entries e
        JOIN unnest(${pairs.map((pair) => inOrder(pair)[0])}::text[], ${pairs.map((pair) => inOrder(pair)[1])}::text[])
          AS w (first, second)
          ON least(e.main_id, e.other_id) = w.first AND greatest(e.main_id, e.other_id) = w.second`)
    )

    /** Finds pairs by the strategies that portfolios may follow now. */
    const namedOf = ({ one, other }: EntryPair) =>
      allNamed(sql`
        SELECT w.id AS "assetId" FROM unnest(${[one, other]}::text[]) AS w (id)
        WHERE EXISTS (
          SELECT FROM strategies s
          JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version
          WHERE v.allocation @> jsonb_build_array(jsonb_build_object('assetId', w.id)))`)

    const record = Effect.fn("TokenEntryStore.record")(function* (
      at: DateTime.Utc,
      { areOne, one, only, other }: EntryJudgement
    ) {
      const named = new Set((yield* namedOf({ one, other })).map(({ assetId }) => assetId))
      const [first, second] = inOrder({ one, other })
      const isSecondMain = only === null ? named.has(second) && !named.has(first) : only === second
      const [main, rest] = isSecondMain ? [second, first] : [first, second]
      const [row] = yield* allJudged(sql`
        INSERT INTO token_entries AS e (main_id, other_id, are_one, judged_at)
        VALUES (${main}, ${rest}, ${areOne}::boolean, ${timestamp(at)})
        ON CONFLICT (least(main_id, other_id), greatest(main_id, other_id))
        DO UPDATE SET are_one = coalesce(excluded.are_one, e.are_one), judged_at = excluded.judged_at
        RETURNING ${sql.literal(columns)}`)
      return row!
    })

    return TokenEntryStore.of({ judged, record })
  })
)
