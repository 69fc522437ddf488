/** What an operation did, on the wire. */
import { Schema } from "effect"
import { OperationOutcome } from "#domain/operation/OperationResult.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { AssetIdText, HeldAssetIdText, hexBytes, prose, rawAmount, usd, written } from "#http/values/values.ts"

/** Text that the service makes, quoting chains and providers. */
const sentence = (description: string, example: string) => Schema.String.annotate({ description, examples: [example] })
const signedUsd = (description: string, example: string) =>
  written(`${description}. US dollars with 6 decimals.`, /^-?[0-9]+\.[0-9]{6}$/u, example)
const chainId = Schema.Int.annotate({ description: "The chain.", examples: [8453] })
const orNull = <S extends Schema.Top>(schema: S, description: string, example: S["Type"] | null) =>
  Schema.NullOr(schema).annotate({ description, examples: [example] })

export const Outcome = OperationOutcome.annotate({
  title: "OperationOutcome",
  description:
    "`traded`: all that was to be done was done; `partly_traded`: something moved and something was left; `skipped`: something was to be done and nothing moved; `nothing_to_do`: every asset is on its target, or off it by less than a trade is worth.",
  examples: ["traded"]
})

const SwapResult = Schema.Struct({
  sell: AssetIdText,
  buy: AssetIdText,
  soldRaw: rawAmount("What was sold"),
  minOutRaw: rawAmount("The minimum that it might yield"),
  receivedRaw: orNull(
    rawAmount("What it yielded"),
    "Null when another swap of the same transaction bought the same asset: `transactions` name it.",
    "1500500000"
  ),
  feeRaw: orNull(
    rawAmount("What the venue kept of what was sold"),
    "Null where nobody says: over a provider's route, and on Solana.",
    "4501500"
  ),
  by: prose("`venue`, `jupiter` on Solana, or the tool of the provider that made it.", 128, "venue")
}).annotate({ identifier: "SwapResult", description: "A swap that landed." })

const TransferResult = Schema.Struct({
  sell: HeldAssetIdText,
  buy: HeldAssetIdText.annotate({ description: "What arrives: another asset when it goes to another chain." }),
  sentRaw: rawAmount("What left"),
  minOutRaw: rawAmount("The minimum that may arrive"),
  receivedRaw: orNull(
    rawAmount("What arrived"),
    "Null while it is under way, which the operation of kind `bridge` shows, or where it is not known by asset.",
    "1500500000"
  ),
  recipient: orNull(
    prose("CAIP-10 of the recipient.", 128, "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7"),
    "Null: the portfolio's own account on the other chain.",
    null
  ),
  by: orNull(prose("The provider's name of the bridge.", 128, "across"), "Null for a plain transfer.", "across")
}).annotate({ identifier: "TransferResult", description: "Value that left, to another chain or to the recipient." })

const TransactionResult = Schema.Struct({
  txHash: written(
    "Hash of the transaction; on Solana its first signature in base58.",
    /^(?:0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/u,
    `0x${"5c".repeat(32)}`
  ),
  userOpHash: orNull(
    hexBytes("Hash of the user operation.", 32, `0x${"0b".repeat(32)}`),
    "Null where none was included, as in a withdrawal.",
    `0x${"0b".repeat(32)}`
  ),
  success: Schema.Boolean.annotate({ description: "False: it moved nothing.", examples: [true] }),
  gasUsed: orNull(
    rawAmount("Gas"),
    "Units of gas that count to this operation; null in a transaction of others.",
    "412000"
  ),
  gasUsd: orNull(usd("What the service paid", "0.041200"), "Null where the price of gas is not known.", "0.041200")
}).annotate({ identifier: "TransactionResult", description: "A transaction that was tried." })

const SkipResult = Schema.Struct({
  code: Schema.Literals(Object.values(SkipCode)).annotate({
    title: "SkipCode",
    description: "Why, for machines; docs/not-traded.md describes what to do.",
    examples: ["STALE_PRICE"]
  }),
  assetId: orNull(AssetIdText, "The asset concerned; null: the whole chain, or the pair of `sell` and `buy`.", null),
  sell: Schema.optionalKey(AssetIdText.annotate({ description: "What was to be sold, where it is about a trade." })),
  buy: Schema.optionalKey(AssetIdText.annotate({ description: "What was to be bought, where it is about a trade." })),
  valueUsd: orNull(
    signedUsd("Left undone; above target it is positive, below it negative", "-12.500000"),
    "Null where it is not known.",
    "-12.500000"
  ),
  reason: sentence("What is wrong, and what would change it.", "The last price of the asset is too old to trade on")
}).annotate({ identifier: "SkipResult", description: "Something that was left undone." })

const ChainResult = Schema.Struct({
  chainId,
  swaps: Schema.Array(SwapResult).annotate({ description: "Those that landed." }),
  transfers: Schema.Array(TransferResult).annotate({ description: "Those that landed." }),
  transactions: Schema.Array(TransactionResult).annotate({ description: "Every one that was tried, in order." }),
  skips: Schema.Array(SkipResult).annotate({ description: "What was left undone, and why." }),
  failure: orNull(
    sentence("Why what was tried did not happen.", "the swaps were reverted in 0x5c..."),
    "Null when it did.",
    null
  )
}).annotate({ identifier: "ChainResult", description: "What was done on one chain." })

export const OperationResult = Schema.Struct({
  chains: Schema.Array(ChainResult).annotate({ description: "Each chain that the operation concerns." }),
  gasUsd: orNull(usd("What the service paid for gas", "0.041200"), "Null when a part of it is not known.", "0.041200"),
  tradingUsd: orNull(
    signedUsd("Value of what was sold less value of what was received, at the plan's prices", "0.620000"),
    "Null when a part of it is not known.",
    "0.620000"
  )
}).annotate({ identifier: "OperationResult", description: "What an operation did, and what it cost." })
