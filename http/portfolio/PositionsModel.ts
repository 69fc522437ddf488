/** What a portfolio holds, on the wire. Source: interface "Positions". */
import { Schema } from "effect"
import { SmartAccount } from "#http/portfolio/PortfolioModel.ts"
import {
  HeldAssetIdText,
  PortfolioIdText,
  rawAmount,
  SmartAccountIdText,
  timestamp,
  usd,
  written
} from "#http/values/values.ts"

const Position = Schema.Struct({
  assetId: HeldAssetIdText,
  smartAccountId: SmartAccountIdText,
  symbol: Schema.String.annotate({ description: "Symbol in the token list.", examples: ["USDC"] }),
  decimals: Schema.Int.annotate({ description: "Decimal places of the token.", examples: [6] }),
  balance: written(
    "Whole tokens at full precision, trailing zeros trimmed.",
    /^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/u,
    "1500.5"
  ),
  balanceRaw: rawAmount("The balance, and the `amountRaw` of a full withdrawal"),
  priceAsOf: Schema.NullOr(timestamp("Time at which the market showed the price")).annotate({
    description:
      "Time at which the market showed the price; null without one. One that is too old has a MISSING_PRICE warning.",
    examples: ["2026-01-31T12:00:00.000Z"]
  }),
  priceUsd: usd(
    "Price of one whole token; 0.000000, with a MISSING_PRICE warning, when no source has one or no market backs it",
    "1.000000"
  ),
  valueUsd: usd("Value of the balance; 0.000000, with a MISSING_PRICE warning, without a price")
}).annotate({ identifier: "Position", description: "One asset in one smart account." })

const Warning = Schema.Struct({
  kind: Schema.Literals([
    "MISSING_SMART_ACCOUNT",
    "RPC_ERROR",
    "STALE_BALANCES",
    "MISSING_PRICE",
    "BLOCKLISTED_ASSET",
    "MISSING_ASSET",
    "FOREIGN_AUTHORITY",
    "IN_TRANSIT_READ_FAILED"
  ]).annotate({
    description:
      "What is missing; MISSING_PRICE: a price, one of now, or a market for what the strategy does not name. FOREIGN_AUTHORITY: somebody else may move the asset.",
    examples: ["MISSING_PRICE"]
  }),
  message: Schema.String.annotate({
    description: "What is missing, and why.",
    examples: ["eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 has no price; the total leaves it out"]
  })
}).annotate({
  identifier: "PositionsWarning",
  description: "Something that could not be read; the rest of the answer still holds."
})

const TransitItem = Schema.Struct({
  sourceAssetId: written(
    "The asset that left, as `<address>:<chainId>`.",
    /^0x[0-9a-fA-F]{40}:[1-9][0-9]*$/u,
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913:8453"
  ),
  destinationChainId: Schema.Int.annotate({ description: "Where it is going.", examples: [42161] }),
  amountRaw: rawAmount("The amount on its way"),
  valueUsd: usd("Value of the amount"),
  priceAsOf: Schema.NullOr(timestamp("Time at which the market showed the price")).annotate({
    description: "Time at which the market showed the price of the asset; null without one.",
    examples: ["2026-01-31T12:00:00.000Z"]
  })
}).annotate({ identifier: "InTransitItem", description: "One open bridge transfer." })

export const Positions = Schema.Struct({
  portfolioId: PortfolioIdText,
  totalValueUsd: written(
    "Value of all rows with a price and of what is in transit. US dollars with 6 decimals, or exactly `0` when nothing could be read.",
    /^(0|[0-9]+\.[0-9]{6})$/u,
    "3001.000000"
  ),
  inTransit: Schema.Struct({
    totalUsd: usd("Value of all items"),
    items: Schema.Array(TransitItem).annotate({ description: "Open bridge transfers." })
  }).annotate({
    identifier: "InTransit",
    description: "What is between two chains and in no account; part of the total."
  }),
  fetchedAt: timestamp("Time at which the chains were read, at most 30 seconds ago"),
  smartAccounts: Schema.Array(SmartAccount).annotate({ description: "The accounts that were read." }),
  assets: Schema.Array(Position).annotate({ description: "Balances above zero, most valuable first." }),
  warnings: Schema.Array(Warning).annotate({ description: "Empty when everything could be read.", examples: [[]] })
}).annotate({
  identifier: "Positions",
  description: "What a portfolio holds now, with everything that could not be read named."
})
