/** What a portfolio holds now, with everything that could not be read named. Source: interface "Positions". */
import type { DateTime } from "effect"
import type { AssetId, ChainId, AccountId, HeldAssetId } from "#domain/values/Caip.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"

export type WarningKind =
  | "MISSING_SMART_ACCOUNT"
  | "RPC_ERROR"
  | "STALE_BALANCES"
  | "MISSING_PRICE"
  | "BLOCKLISTED_ASSET"
  | "MISSING_ASSET"
  | "FOREIGN_AUTHORITY"
  | "IN_TRANSIT_READ_FAILED"

export interface Warning {
  readonly kind: WarningKind
  readonly message: string
}

export interface Position {
  /** A token, or the chain's native coin. */
  readonly assetId: HeldAssetId
  readonly smartAccountId: AccountId
  readonly symbol: string
  readonly decimals: number
  readonly balanceRaw: bigint
  /** US dollars (wad) for one whole token; null when no source has one. */
  readonly priceUsd: bigint | null
  /** Time at which the market showed the price; null without one. */
  readonly priceAsOf: DateTime.Utc | null
  /** US dollars (wad); null without a price. */
  readonly valueUsd: bigint | null
}

/** One open transfer between two chains; what left, at its price now. */
export interface TransitItem {
  readonly sourceAssetId: AssetId
  readonly destinationChainId: ChainId
  readonly amountRaw: bigint
  /** US dollars (wad); null without a price. */
  readonly valueUsd: bigint | null
  /** Time at which the market showed the price; null without one. */
  readonly priceAsOf: DateTime.Utc | null
}

export interface Positions {
  readonly portfolioId: PortfolioId
  /** What is in transit included. */
  readonly totalValueUsd: bigint
  readonly inTransit: { readonly totalUsd: bigint; readonly items: ReadonlyArray<TransitItem> }
  readonly fetchedAt: DateTime.Utc
  readonly smartAccounts: ReadonlyArray<AccountId>
  readonly assets: ReadonlyArray<Position>
  readonly warnings: ReadonlyArray<Warning>
}
