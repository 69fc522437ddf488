/** What was there at the last valuation, as the row of a portfolio keeps it. */
import { Schema } from "effect"
import { AssetId, AccountId } from "#domain/Caip.ts"
import { OperationId, PortfolioId } from "#domain/Ids.ts"
import type { AccountSnapshot } from "#domain/performance/Valuation.ts"
import { Wad } from "#layers/sql/allocationColumns.ts"
import { decodeRows, Timestamp } from "#layers/sql/rows.ts"

const held = { assetId: AssetId, raw: Schema.BigIntFromString, priceUsd: Wad, decimals: Schema.Int }

const Snapshots = Schema.Array(
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
