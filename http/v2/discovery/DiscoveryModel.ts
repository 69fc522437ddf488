/** Discovery on the wire. Source: interface "Discovery strategy item" and "GET /v2/discovery/strategies". */
import { Schema } from "effect"
import { Collection } from "#domain/discovery/Collection.ts"
import { maxItems } from "#domain/discovery/Discovery.ts"
import { shown } from "#domain/values/fromText.ts"
import { Sort } from "#domain/discovery/Sort.ts"
import { Allocation } from "#http/v2/strategy/AllocationModel.ts"
import { limitUpTo } from "#http/values/PageQuery.ts"
import { Summary } from "#http/performance/PerformanceModel.ts"
import { Strategy } from "#http/v2/strategy/StrategyModel.ts"
import { StrategyIdText, timestamp, written } from "#http/values/values.ts"

export const discoveryQuery = {
  collection: Collection.annotate({
    description:
      "`curated`: chosen by the operator, in editorial order. `top_performing`: every public strategy, ranked by analytics.",
    examples: ["top_performing"]
  }),
  sort: Schema.optionalKey(
    Sort.annotate({
      description:
        "What `top_performing` is ranked by: value locked (`tvl.desc`, the default), net inflows of the last 7 days, or distinct owners. Ignored for `curated`. May be left out with a cursor; sent with one it must be the cursor's.",
      examples: ["tvl.desc"]
    })
  ),
  limit: Schema.optionalKey(limitUpTo(maxItems)),
  cursor: Schema.optionalKey(
    Schema.String.check(shown({ maxLength: 512 })).annotate({
      description: "`nextCursor` of the page before, unchanged; of the same collection.",
      examples: ["eyJsIjoiZGlzY292ZXJ5Iiwi"]
    })
  )
}

const dollars = written("US dollars with 2 decimals.", /^[0-9]+\.[0-9]{2}$/u, "1520000.50")

const Metrics = Schema.Struct({
  tvlUsd: Schema.NullOr(dollars).annotate({
    description:
      "Value in the strategy's active portfolios, US dollars with 2 decimals; null when it is temporarily unavailable.",
    examples: ["1520000.50"]
  }),
  portfolioCount: Schema.NullOr(Schema.Int).annotate({
    description:
      "Active portfolios that follow the strategy; null when it is temporarily unavailable, which is never zero.",
    examples: [128]
  }),
  performance: Schema.Struct({ summary: Summary }).annotate({
    description: "How the strategy's target weights have performed."
  })
}).annotate({ identifier: "DiscoveryMetrics", description: "Figures of a strategy." })

export const DiscoveryItem = Schema.Struct({
  strategyId: StrategyIdText,
  name: Strategy.fields.name,
  description: Strategy.fields.description,
  maxApy: Strategy.fields.maxApy,
  allocation: Allocation,
  createdAt: timestamp("Time of the strategy's creation"),
  canMirror: Schema.Boolean.annotate({ description: "Users may be enrolled into the strategy.", examples: [true] }),
  metrics: Metrics
}).annotate({ identifier: "DiscoveryItem", description: "A public strategy that users may be enrolled into." })
