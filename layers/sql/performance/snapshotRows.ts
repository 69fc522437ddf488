/** What was there at the last valuation, as the row of a portfolio keeps it. */
import { Schema } from "effect"
import { AccountId, AssetId, isNative, NativeAssetId } from "#domain/values/Caip.ts"
import { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { AccountSnapshot } from "#domain/performance/Valuation.ts"
import { Wad } from "#layers/sql/allocationColumns.ts"
import { decodeRows, Timestamp } from "#layers/sql/rows.ts"

const amount = { raw: Schema.BigIntFromString, priceUsd: Wad, decimals: Schema.Int }
const held = { assetId: AssetId, ...amount }

/** The native coin is beside the tokens, since processes of the release before read tokens alone. */
const Snapshots = Schema.Array(
  Schema.Struct({
    accountId: AccountId,
    blockNumber: Schema.BigIntFromString,
    holdings: Schema.Array(Schema.Struct(held)),
    native: Schema.optionalKey(Schema.Struct({ assetId: NativeAssetId, ...amount })),
    incoming: Schema.optionalKey(Schema.Array(Schema.Struct({ ...held, operationId: OperationId })))
  })
)
type Row = (typeof Snapshots.Type)[number]

const encodeRows = Schema.encodeSync(Snapshots)

const toRow = ({ holdings, ...snapshot }: AccountSnapshot): Row => {
  const tokens: Array<Row["holdings"][number]> = []
  let native: Row["native"] = undefined
  for (const { assetId, ...rest } of holdings) {
    if (isNative(assetId)) native = { assetId, ...rest }
    else tokens.push({ assetId, ...rest })
  }
  return { ...snapshot, holdings: tokens, ...(native === undefined ? {} : { native }) }
}

const toSnapshot = ({ holdings, native, ...row }: Row): AccountSnapshot => ({
  ...row,
  holdings: native === undefined ? holdings : [...holdings, native]
})

export const encodeSnapshots = (snapshots: ReadonlyArray<AccountSnapshot>) => encodeRows(snapshots.map(toRow))

export const byAccount = (rows: ReadonlyArray<Row>): ReadonlyMap<AccountId, AccountSnapshot> =>
  new Map(rows.map((row) => [row.accountId, toSnapshot(row)]))

/** A page of the walk over all portfolios. */
export const allPortfolios = decodeRows(
  Schema.Struct({
    portfolioId: PortfolioId,
    accountIds: Schema.Array(AccountId),
    isClaimed: Schema.Boolean,
    accounts: Schema.NullOr(Snapshots)
  })
)

/** Portfolios that were taken for a valuation. */
export const allTaken = decodeRows(
  Schema.Struct({
    portfolioId: PortfolioId,
    accountIds: Schema.Array(AccountId),
    claimedAt: Timestamp,
    accounts: Schema.NullOr(Snapshots)
  })
)
