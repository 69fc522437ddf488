/** Discovery on the wire. Source: interface "Discovery strategy item" and "GET /v2/discovery/strategies". */
import { Schema } from "effect"
import { Collection } from "#domain/discovery/Collection.ts"
import { maxItems } from "#domain/discovery/Discovery.ts"
import { Sort } from "#domain/discovery/Sort.ts"
import { Allocation } from "#http/v2/models/Allocation.ts"
import { Summary } from "#http/v2/models/Performance.ts"
import { Strategy } from "#http/v2/models/Strategy.ts"
import { StrategyIdText, timestamp } from "#http/v2/models/values.ts"

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
  limit: Schema.optionalKey(
    Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: maxItems }))
  ),
  cursor: Schema.optionalKey(
    Schema.String.annotate({
      description: "`nextCursor` of the page before, unchanged; of the same collection.",
      examples: ["eyJsIjoiZGlzY292ZXJ5Iiwi"]
    })
  )
}

const Metrics = Schema.Struct({
  tvlUsd: Schema.NullOr(Schema.String).annotate({
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
}).annotate({ identifier: "DiscoveryMetrics", description: "What analytics know of a strategy." })

export const DiscoveryItem = Schema.Struct({
  strategyId: StrategyIdText,
  name: Strategy.fields.name,
  description: Strategy.fields.description,
  maxApy: Schema.optionalKey(
    Schema.String.annotate({
      description: "The most that the creator advertises, percent a year with 2 decimals; absent when not advertised.",
      examples: ["10.00"]
    })
  ),
  allocation: Allocation,
  createdAt: timestamp("When the strategy was created"),
  canMirror: Schema.Boolean.annotate({ description: "Users may be enrolled into the strategy.", examples: [true] }),
  metrics: Metrics
}).annotate({ identifier: "DiscoveryItem", description: "A public strategy that users may be enrolled into." })
