/** The two stages of a withdrawal on the wire. Source: shapes 2.22 to 2.24. */
import { Schema } from "effect"
import { AssetId, EvmAccountId, EvmWalletId } from "#domain/Caip.ts"
import { maxSignatureBytes } from "#domain/enrollment/OwnerMessage.ts"
import { maxAssets, RawAmount, WithdrawalMessage } from "#domain/withdrawal/WithdrawalMessage.ts"
import { AssetIdText, PortfolioIdParam, PortfolioIdText, rawAmount, timestamp } from "#http/v2/models/values.ts"

const recipientExample = "eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070D"
const nonceExample = `0x${"7c".repeat(32)}`
const expiresAtExample = 1772444400

const recipientDescription =
  "CAIP-10 of who receives, bound to the chain of the assets. Any account but the portfolio's own."

/** A wallet on no particular chain is read so far that it is refused for the right reason. */
const recipient = Schema.Union([EvmAccountId, EvmWalletId]).annotate({
  description: recipientDescription,
  examples: [recipientExample as EvmAccountId],
  message: "Expected a chain-bound CAIP-10 account of the form eip155:<chainId>:<address>"
})

const amountRaw = RawAmount.annotate({
  description:
    "A positive integer in the token's smallest unit; to withdraw everything, `balanceRaw` of the positions.",
  examples: ["1500500000"]
})

/** The body of stage 1. */
export const WithdrawalRequest = Schema.Struct({
  recipientAccountId: recipient,
  assets: Schema.Array(
    Schema.Struct({ assetId: AssetId, amountRaw }).annotate({
      identifier: "WithdrawalAsset",
      description: "One asset and how much of it."
    })
  )
    .check(Schema.isBetweenLength(1, maxAssets, { expected: `1 to ${maxAssets} assets` }))
    .annotate({ description: "What is withdrawn; all on the recipient's chain, none twice." }),
  liquidate: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True: the assets are sold first, and the chain's settlement asset is delivered.",
      examples: [false]
    })
  ),
  settlementAssetId: Schema.optionalKey(
    AssetId.annotate({
      description: "Only with `liquidate`. The chain's canonical USDC, which is also the default, and no other."
    })
  )
}).annotate({ identifier: "WithdrawalRequest", description: "What the owner will be asked to authorize." })

/** The body of stage 1 for everything at once. */
export const LiquidateAllRequest = Schema.Struct({ recipientAccountId: recipient }).annotate({
  identifier: "LiquidateAllRequest",
  description: "Who receives what everything on the chain is sold for."
})

const member = Schema.Struct({
  name: Schema.String.annotate({ description: "Name of the member.", examples: ["nonce"] }),
  type: Schema.String.annotate({ description: "Its EIP-712 type.", examples: ["bytes32"] })
}).annotate({ identifier: "TypedDataMember", description: "A member of an EIP-712 struct." })

const IssuedMessage = Schema.Struct({
  portfolioId: PortfolioIdText,
  recipientAccountId: Schema.String.annotate({ description: recipientDescription, examples: [recipientExample] }),
  assets: Schema.Array(Schema.Struct({ assetId: AssetIdText, amountRaw: rawAmount("How much of it") })).annotate({
    description: "What is withdrawn."
  }),
  nonce: Schema.String.annotate({
    description: "32 random bytes in hex; the idempotency anchor of stage 2.",
    examples: [nonceExample]
  }),
  expiresAt: Schema.Int.annotate({
    description: "The last second, since 1970, in which the chain carries it out.",
    examples: [expiresAtExample]
  }),
  liquidate: Schema.optionalKey(
    Schema.Literal(true).annotate({ description: "Present when the assets are sold first." })
  )
}).annotate({ identifier: "WithdrawalMessage", description: "What is signed; send it back to stage 2 unchanged." })

/** The answer of stage 1, for owners that sign typed data. */
const TypedDataAuthorization = Schema.Struct({
  authorizationId: Schema.String.annotate({ description: "The same as `message.nonce`.", examples: [nonceExample] }),
  expiresAt: timestamp("The same moment as `message.expiresAt`, ten minutes ahead"),
  typedData: Schema.Struct({
    domain: Schema.Struct({
      name: Schema.String.annotate({
        description: "Who asks, as the wallet shows it.",
        examples: ["Ballast Withdrawal Authorization"]
      }),
      version: Schema.Literals(["1", "2"]).annotate({ description: "`2` when the assets are sold first." }),
      chainId: Schema.Int.annotate({ description: "The recipient's chain.", examples: [8453] }),
      verifyingContract: Schema.String.annotate({
        description: "The portfolio's smart account on that chain.",
        examples: ["0x52908400098527886E0F7030069857D2E4169EE7"]
      })
    }).annotate({ identifier: "WithdrawalDomain", description: "The EIP-712 domain." }),
    types: Schema.Struct({
      Withdrawal: Schema.Array(member).annotate({ description: "Members of the message, in order." }),
      WithdrawalAsset: Schema.Array(member).annotate({ description: "Members of one asset, in order." })
    }).annotate({ identifier: "WithdrawalTypes", description: "Without `EIP712Domain`, which wallets add." }),
    primaryType: Schema.Literal("Withdrawal").annotate({ description: "The struct that is signed." }),
    message: IssuedMessage
  }).annotate({ identifier: "WithdrawalTypedData", description: "Pass it to `signTypedData` as it is." })
}).annotate({
  identifier: "WithdrawalTypedDataAuthorization",
  description: "What the owner of an EVM portfolio signs (EIP-712)."
})

/** The answer of stage 1, by kind of owner. */
export const WithdrawalAuthorization = TypedDataAuthorization

const { assets, expiresAt, nonce, recipientAccountId } = WithdrawalMessage.fields

/** The body of stage 2. */
export const WithdrawalBody = Schema.Struct({
  message: Schema.Struct({
    portfolioId: PortfolioIdParam,
    recipientAccountId,
    assets: assets.annotate({
      description: "As stage 1 issued them.",
      examples: [
        [
          {
            assetId: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" as AssetId,
            amountRaw: "1500500000"
          }
        ]
      ]
    }),
    nonce: nonce.annotate({ description: "As stage 1 issued it.", examples: [nonceExample] }),
    expiresAt: expiresAt.annotate({ description: "As stage 1 issued it.", examples: [expiresAtExample] }),
    liquidate: Schema.optionalKey(
      Schema.Literal(true).annotate({ description: "As stage 1 issued it, or left out like there." })
    )
  }).annotate({ identifier: "SignedWithdrawalMessage", description: "`typedData.message` of stage 1, unchanged." }),
  signature: Schema.String.check(
    Schema.isPattern(new RegExp(`^0x(?:[0-9a-fA-F]{2}){1,${maxSignatureBytes}}$`, "u"), {
      expected: `1 to ${maxSignatureBytes} bytes in hex with 0x`
    })
  ).annotate({
    description: "The owner's signature over the typed data: 65 bytes of a wallet, or what a contract wallet makes.",
    examples: [`0x${"1b".repeat(65)}`]
  })
}).annotate({ identifier: "WithdrawalBody", description: "The message of stage 1 and the owner's signature." })
