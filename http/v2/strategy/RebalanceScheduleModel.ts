/** When a strategy's portfolios are rebalanced, on the wire. Source: interface "Strategy", shapes 2.8. */
import { Schema } from "effect"
import { Frequency } from "#domain/RebalanceSchedule.ts"

export const RebalanceSchedule = Schema.Struct({
  type: Schema.Literal("interval").annotate({ description: "The only kind of schedule." }),
  frequency: Frequency.annotate({ description: "How often portfolios are rebalanced.", examples: ["daily"] })
}).annotate({ identifier: "RebalanceSchedule", description: "When the strategy's portfolios are rebalanced." })
