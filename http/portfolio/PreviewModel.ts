/** What a rebalance would do now, on the wire. Source: docs/decisions/0183-rebalance-preview.md. */
import { Schema } from "effect"
import { PreviewOutcome } from "#domain/rebalance/preview/Preview.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { AssetIdText, PortfolioIdText, prose, rawAmount, timestamp, usd, written } from "#http/values/values.ts"

export const PlanHash = written(
  "Names the plan of a preview.",
  /^[0-9a-f]{64}$/u,
  "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
)

/** The body of a rebalance: nothing, or the preview that it was decided by. */
export const RebalanceRequest = Schema.UndefinedOr(
  Schema.Struct({ planHash: Schema.optionalKey(PlanHash) }).annotate({
    identifier: "RebalanceRequest",
    description: "Nothing, an empty object, or the `planHash` of the preview that the rebalance shall follow."
  })
)

const swap = {
  sell: AssetIdText,
  buy: AssetIdText,
  sellAmountRaw: rawAmount("What is sold, exactly"),
  expectedBuyRaw: rawAmount("What the better of the quotes pays"),
  minBuyAmountRaw: rawAmount("The minimum amount out: the chain refuses to pay less")
}

const PreviewSwap = Schema.Struct({
  ...swap,
  tool: Schema.NullOr(prose("The provider's tool that would make the swap; null: the venue.", 100, "paraswap"))
}).annotate({ identifier: "PreviewSwap", description: "A swap that would be made." })

const PreviewTransfer = Schema.Struct({
  sell: AssetIdText,
  buy: AssetIdText,
  amountRaw: rawAmount("What leaves the chain"),
  expectedRaw: rawAmount("What the provider expects to arrive"),
  minRaw: rawAmount("The minimum that may arrive"),
  tool: prose("The provider's bridge.", 100, "across")
}).annotate({ identifier: "PreviewTransfer", description: "Value that would move to another chain." })

const PreviewSkip = Schema.Struct({
  code: Schema.Literals(Object.values(SkipCode)).annotate({
    description: "Why.",
    examples: ["BELOW_MIN_TRADE"]
  }),
  assetId: Schema.NullOr(AssetIdText).annotate({ description: "Null where it is about the whole chain or a pair." }),
  reason: prose(
    "One sentence for people.",
    2_000,
    "The asset is 0.40 USD above its target: less than the minimum trade."
  )
}).annotate({ identifier: "PreviewSkip", description: "Something that would be left undone." })

const PreviewChain = Schema.Struct({
  chainId: Schema.Int.annotate({ description: "The chain.", examples: [8453] }),
  outcome: PreviewOutcome.annotate({
    description:
      "`trades`: these would be sent, in one operation. `nothing`: nothing would be. `signature_required`: the owner must sign at `/v2/portfolios/{portfolioId}/chains/signature` first.",
    examples: ["trades"]
  }),
  swaps: Schema.Array(PreviewSwap).annotate({ description: "Trades in the order in which they would be made." }),
  transfers: Schema.Array(PreviewTransfer).annotate({
    description: "Transfers after the swaps, in the same operation."
  }),
  skips: Schema.Array(PreviewSkip).annotate({ description: "What would be left undone, and why." }),
  reason: Schema.NullOr(prose("Why nothing would be sent although something should.", 2_000, "nothing")).annotate({
    description: "Why nothing would be sent although something should; null otherwise.",
    examples: [null]
  }),
  gasLimit: Schema.NullOr(rawAmount("Gas that the operation may use")).annotate({
    description: "Gas that the operation may use; null when nothing would be sent."
  }),
  gasUsd: Schema.NullOr(usd("What the gas is expected to cost; the service pays it", "0.012000")).annotate({
    description: "What the gas is expected to cost; null when nothing would be sent or the native asset has no price."
  })
}).annotate({ identifier: "PreviewChain", description: "What would happen on one chain." })

export const Preview = Schema.Struct({
  portfolioId: PortfolioIdText,
  planHash: PlanHash,
  strategyVersion: Schema.Int.annotate({ description: "The version that the plan follows.", examples: [3] }),
  plannedAt: timestamp("Time at which balances and prices were read"),
  expiresAt: timestamp("Time until which `planHash` may be sent with a rebalance", "2026-03-02T09:40:00.000Z"),
  chains: Schema.Array(PreviewChain).annotate({ description: "One for each chain of the portfolio." })
}).annotate({ identifier: "RebalancePreview", description: "The plan that a run would make now." })
