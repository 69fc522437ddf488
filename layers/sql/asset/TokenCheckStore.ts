/** What chains said of listed tokens, beside the rows of the lists. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type CheckedToken, type DueTokens, TokenCheckStore } from "#domain/asset/TokenCheckStore.ts"
import { AssetId } from "#domain/values/Caip.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const allTokens = decodeRows(Schema.Struct({ assetId: AssetId, decimals: Schema.Int }))

export const layer = Layer.effect(
  TokenCheckStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const due = Effect.fn("TokenCheckStore.due")(({ chainId, checkedBefore, limit, refusedBefore }: DueTokens) =>
      allTokens(sql`
        SELECT asset_id AS "assetId", decimals FROM assets
        WHERE chain_id = ${chainId} AND (
          checked_at IS NULL OR checked_at <= ${timestamp(checkedBefore)}
          OR (refusal IS NOT NULL AND checked_at <= ${timestamp(refusedBefore)})
        ) ORDER BY checked_at NULLS FIRST, asset_id LIMIT ${limit}`)
    )

    const unchecked = Effect.fn("TokenCheckStore.unchecked")((assetIds: ReadonlyArray<AssetId>) =>
      allTokens(sql`
        SELECT asset_id AS "assetId", decimals FROM assets
        WHERE asset_id = ANY(${assetIds}::text[]) AND checked_at IS NULL`)
    )

    // In the order of their ids: two processes that check the same tokens never wait for each other in a circle.
    const record = Effect.fn("TokenCheckStore.record")(
      (at: DateTime.Utc, checked: ReadonlyArray<CheckedToken>) => sql`
        WITH said AS MATERIALIZED (
          SELECT * FROM jsonb_to_recordset(${storableJson(checked)}::jsonb)
            AS s ("assetId" text, decimals integer, refusal text)
        ), locked AS MATERIALIZED (
          SELECT asset_id FROM assets WHERE asset_id IN (SELECT "assetId" FROM said)
          ORDER BY asset_id FOR NO KEY UPDATE
        )
        UPDATE assets a SET chain_decimals = said.decimals, refusal = said.refusal, checked_at = ${timestamp(at)}
        FROM said JOIN locked ON locked.asset_id = said."assetId" WHERE a.asset_id = said."assetId"`,
      Effect.asVoid,
      Effect.orDie
    )

    return TokenCheckStore.of({ due, unchecked, record })
  })
)
