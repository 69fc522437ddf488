/** Positions as v2 shows them. Source: interface "Positions" and "Number formats". */
import { DateTime } from "effect"
import * as Amount from "#domain/values/Amount.ts"
import { addressOf, chainIdOf } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Position, Positions } from "#domain/portfolio/Positions.ts"
import { smartAccountView } from "#http/portfolio/portfolioView.ts"

const timeOf = (time: DateTime.Utc | null): string | null => (time === null ? null : DateTime.formatIso(time))

/** The interface has no null here; a row without a price is marked by its MISSING_PRICE warning. */
const usdOrZero = (value: bigint | null): string => Decimal.formatUsd(value ?? 0n)

const positionView = (position: Position) => ({
  assetId: position.assetId,
  smartAccountId: position.smartAccountId,
  symbol: position.symbol,
  decimals: position.decimals,
  balance: Amount.format(position.balanceRaw, position.decimals),
  balanceRaw: position.balanceRaw.toString(),
  priceUsd: usdOrZero(position.priceUsd),
  priceAsOf: timeOf(position.priceAsOf),
  valueUsd: usdOrZero(position.valueUsd)
})

/** No account could be read, as against accounts that hold nothing. */
const isUnreadable = ({ assets, inTransit, smartAccounts, warnings }: Positions): boolean =>
  assets.length === 0 &&
  inTransit.items.length === 0 &&
  smartAccounts.length > 0 &&
  warnings.filter(({ kind }) => kind === "RPC_ERROR").length >= smartAccounts.length

export const positionsView = (positions: Positions) => ({
  portfolioId: positions.portfolioId,
  totalValueUsd: isUnreadable(positions) ? "0" : Decimal.formatUsd(positions.totalValueUsd),
  inTransit: {
    totalUsd: Decimal.formatUsd(positions.inTransit.totalUsd),
    items: positions.inTransit.items.map(({ amountRaw, destinationChainId, priceAsOf, sourceAssetId, valueUsd }) => ({
      sourceAssetId: `${addressOf(sourceAssetId)}:${chainIdOf(sourceAssetId)}`,
      destinationChainId,
      amountRaw: amountRaw.toString(),
      valueUsd: usdOrZero(valueUsd),
      priceAsOf: timeOf(priceAsOf)
    }))
  },
  fetchedAt: DateTime.formatIso(positions.fetchedAt),
  smartAccounts: positions.smartAccounts.map((accountId) => smartAccountView(accountId)),
  assets: positions.assets.map(positionView),
  warnings: positions.warnings
})
