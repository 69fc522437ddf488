/** A preview as v2 shows it. */
import { DateTime } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { expectedOf, type PreviewedChain } from "#domain/rebalance/preview/Preview.ts"
import type { Preview } from "#domain/rebalance/preview/Previews.ts"

const chainView = ({ chainId, gas, outcome, reason, skips, swaps, transfers }: PreviewedChain) => ({
  chainId,
  outcome,
  swaps: swaps.map((swap) => ({
    sell: swap.sell,
    buy: swap.buy,
    sellAmountRaw: String(swap.sellAmountRaw),
    expectedBuyRaw: String(expectedOf(swap)),
    minBuyAmountRaw: String(swap.minBuyAmountRaw),
    tool: swap.tool ?? null
  })),
  transfers: transfers.map(({ amountRaw, buy, expectedRaw, minRaw, sell, tool }) => ({
    sell,
    buy,
    amountRaw: String(amountRaw),
    expectedRaw: String(expectedRaw),
    minRaw: String(minRaw),
    tool
  })),
  skips: skips.map(({ assetId, code, reason: sentence }) => ({ code, assetId, reason: sentence })),
  reason,
  gasLimit: gas === null ? null : String(gas.limit),
  gasUsd: gas?.costUsd == null ? null : Decimal.format(gas.costUsd, 6)
})

export const previewView = (portfolioId: PortfolioId, { expiresAt, plan, planHash, plannedAt }: Preview) => ({
  portfolioId,
  planHash,
  strategyVersion: plan.strategyVersion,
  plannedAt: DateTime.formatIso(plannedAt),
  expiresAt: DateTime.formatIso(expiresAt),
  chains: plan.chains.map(chainView)
})
