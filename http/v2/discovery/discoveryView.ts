/** A public strategy as discovery shows it. Source: interface "Discovery strategy item" and "Number formats". */
import { DateTime } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import type { DiscoveryItem } from "#domain/discovery/DiscoveryItem.ts"
import { allocationView } from "#http/v2/strategy/allocationView.ts"
import { summaryView } from "#http/performance/performanceView.ts"

export const discoveryView = ({ maxApy, metrics, ...item }: DiscoveryItem) => ({
  strategyId: item.strategyId,
  name: item.name,
  description: item.description,
  ...(maxApy === null ? {} : { maxApy: Decimal.format(maxApy, 2) }),
  allocation: allocationView(item.allocation),
  createdAt: DateTime.formatIso(item.createdAt),
  canMirror: item.canMirror,
  metrics: {
    tvlUsd: metrics.tvlUsd === null ? null : Decimal.format(metrics.tvlUsd, 2),
    portfolioCount: metrics.portfolioCount,
    performance: { summary: summaryView(metrics.windows) }
  }
})
