/** What was there at the last valuation, as the row of a portfolio keeps it. */
import { Schema } from "effect"
import { AssetId, AccountId } from "#domain/Caip.ts"
import { OperationId } from "#domain/Ids.ts"
import type { AccountSnapshot } from "#domain/performance/Valuation.ts"
import { Wad } from "#layers/sql/allocationColumns.ts"

const held = { assetId: AssetId, raw: Schema.BigIntFromString, priceUsd: Wad, decimals: Schema.Int }

export const Snapshots = Schema.Array(
  Schema.Struct({
    accountId: AccountId,
    blockNumber: Schema.BigIntFromString,
    holdings: Schema.Array(Schema.Struct(held)),
    incoming: Schema.optionalKey(Schema.Array(Schema.Struct({ ...held, operationId: OperationId })))
  })
)
export const encodeSnapshots = Schema.encodeSync(Snapshots)

export const byAccount = (snapshots: ReadonlyArray<AccountSnapshot>): ReadonlyMap<AccountId, AccountSnapshot> =>
  new Map(snapshots.map((snapshot) => [snapshot.accountId, snapshot]))
