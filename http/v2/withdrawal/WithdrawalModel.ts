/** The two stages of a withdrawal on the wire. Source: shapes 2.22 to 2.24. */
import { Schema } from "effect"
import { Hex } from "effect/encoding"
import { type AccountId, anyPattern, AssetId, HeldAssetId, solanaAccount, spl } from "#domain/values/Caip.ts"
import { maxSignatureBytes } from "#domain/account/OwnerMessage.ts"
import { shown } from "#domain/values/fromText.ts"
import { portfolioIdPattern } from "#domain/values/Ids.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import { typedDataOf } from "#domain/withdrawal/signedForm.ts"
import { maxWithdrawalAssets, RawAmount, WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { OwnerMessage } from "#http/v2/enrollment/OwnerMessageModel.ts"
import {
  addressText,
  HeldAssetIdText,
  hexBytes,
  PortfolioIdText,
  prose,
  rawAmount,
  timestamp,
  written
} from "#http/values/values.ts"

const recipientExample = "eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070D"
const assetExample = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const nonceExample = `0x${"7c".repeat(32)}`
const expiresAtExample = 1772444400

const recipientDescription =
  "CAIP-10 of who receives, bound to the chain of the assets. Any account but the portfolio's own."

/** Any text is read: what is no account that is bound to a chain is refused as a recipient (API_211), not as a form. */
const recipient = Schema.String.check(shown({ pattern: anyPattern.account.source })).annotate({
  description: recipientDescription,
  examples: [recipientExample]
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
    Schema.Struct({ assetId: HeldAssetId, amountRaw }).annotate({
      identifier: "WithdrawalAsset",
      description: "One asset and how much of it."
    })
  )
    .check(Schema.isBetweenLength(1, maxWithdrawalAssets, { expected: `1 to ${maxWithdrawalAssets} assets` }))
    .annotate({
      description:
        "What is withdrawn; all on the recipient's chain, none twice, on Solana at most 5; a chain's native coin (`slip44`) alone."
    }),
  liquidate: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True: the assets are sold first, and the chain's settlement asset is delivered. Not on Solana.",
      examples: [true]
    })
  ),
  settlementAssetId: Schema.optionalKey(
    AssetId.annotate({
      description: "Only with `liquidate`. The chain's canonical USDC, which is also the default, and no other."
    })
  )
}).annotate({ identifier: "WithdrawalRequest", description: "What the owner is to authorize." })

/** The body of stage 1 for all assets. */
export const LiquidateAllRequest = Schema.Struct({ recipientAccountId: recipient }).annotate({
  identifier: "LiquidateAllRequest",
  description: "Who receives what everything on the chain is sold for."
})

const member = Schema.Struct({
  name: written("Name of the member.", /^[a-zA-Z]+$/u, "nonce"),
  type: written("Its EIP-712 type.", /^[a-zA-Z0-9]+(\[\])?$/u, "bytes32")
}).annotate({ identifier: "TypedDataMember", description: "A member of an EIP-712 struct." })

const IssuedMessage = Schema.Struct({
  portfolioId: PortfolioIdText,
  recipientAccountId: written(recipientDescription, anyPattern.account, recipientExample),
  assets: Schema.Array(Schema.Struct({ assetId: HeldAssetIdText, amountRaw: rawAmount("How much of it") })).annotate({
    description: "What is withdrawn."
  }),
  nonce: hexBytes("32 random bytes in hex; the idempotency anchor of stage 2.", 32, nonceExample),
  expiresAt: Schema.Int.annotate({
    description: "The last second, since 1970, in which the chain carries it out.",
    examples: [expiresAtExample]
  }),
  liquidate: Schema.optionalKey(
    Schema.Literal(true).annotate({ description: "Present when the assets are sold first." })
  )
}).annotate({ identifier: "WithdrawalMessage", description: "What is signed; send it back to stage 2 unchanged." })

const messageExample = Schema.decodeUnknownSync(WithdrawalMessage)({
  portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8",
  recipientAccountId: recipientExample,
  assets: [{ assetId: assetExample, amountRaw: "1500500000" }],
  nonce: nonceExample,
  expiresAt: expiresAtExample
})

/** Text as the service itself would write it. */
const typedDataExample = typedDataOf(
  messageExample,
  "Ballast Withdrawal Authorization",
  "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7" as AccountId
)

const issuedAt = {
  authorizationId: hexBytes("Copy of `message.nonce`.", 32, nonceExample),
  expiresAt: timestamp("Time of `message.expiresAt`, ten minutes ahead", "2026-03-02T09:40:00.000Z")
}

/** The answer of stage 1, for portfolios on EVM chains. */
const TypedDataAuthorization = Schema.Struct({
  ...issuedAt,
  typedData: Schema.Struct({
    domain: Schema.Struct({
      name: prose("The requesting application, as the wallet shows it.", 256, "Ballast Withdrawal Authorization"),
      version: Schema.Literals(["1", "2"]).annotate({ description: "`2` when the assets are sold first." }),
      chainId: Schema.Int.annotate({ description: "The recipient's chain.", examples: [8453] }),
      verifyingContract: addressText("The portfolio's smart account on that chain.")
    }).annotate({ identifier: "WithdrawalDomain", description: "The EIP-712 domain." }),
    types: Schema.Struct({
      Withdrawal: Schema.Array(member).annotate({ description: "Members of the message, in order." }),
      WithdrawalAsset: Schema.Array(member).annotate({ description: "Members of one asset, in order." })
    }).annotate({ identifier: "WithdrawalTypes", description: "Types without `EIP712Domain`, which wallets add." }),
    primaryType: Schema.Literal("Withdrawal").annotate({ description: "The struct that is signed." }),
    message: IssuedMessage
  }).annotate({
    identifier: "WithdrawalTypedData",
    description: "Pass it to `signTypedData` as it is.",
    examples: [typedDataExample]
  })
}).annotate({
  identifier: "WithdrawalTypedDataAuthorization",
  description: "What the owner of an EVM portfolio signs (EIP-712)."
})

const textExample = withdrawalText("Ballast Withdrawal Authorization", {
  ...messageExample,
  recipientAccountId: solanaAccount("7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"),
  assets: [{ assetId: spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"), amountRaw: "1500500000" }]
})

const signedMessage = { message: IssuedMessage }

/** What is signed on Solana, by the kind of the owner's key. */
const SolanaAuthorization = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("solana-message").annotate({ description: "Text for a Solana key: sign its UTF-8 bytes." }),
    text: prose("Lines that say what leaves, to whom and until when.", 8_192, textExample),
    ...signedMessage
  }).annotate({ identifier: "WithdrawalText", description: "What the owner with a Solana key signs, with ed25519." }),
  Schema.Struct({
    kind: Schema.Literal("ecdsa").annotate({ description: "Bytes for an EVM wallet: sign them with `personal_sign`." }),
    raw: written(
      "The text's UTF-8 bytes in hex.",
      /^0x(?:[0-9a-f]{2})+$/u,
      `0x${Hex.encode(new TextEncoder().encode(textExample))}`
    ),
    ...signedMessage
  }).annotate({ identifier: "WithdrawalBytes", description: "What the owner with an EVM wallet signs (EIP-191)." })
])

/** The answer of stage 1, for portfolios on Solana. */
const TextAuthorization = Schema.Struct({
  ...issuedAt,
  authorization: SolanaAuthorization.annotate({ description: "What is signed, in the way that `kind` names." })
}).annotate({
  identifier: "WithdrawalTextAuthorization",
  description: "What the owner of a portfolio on Solana signs."
})

/** The answer of stage 1, for the native coin of an EVM chain. */
const OperationAuthorization = Schema.Struct({
  ...issuedAt,
  operation: Schema.Struct({
    accountId: written(
      "CAIP-10 of the portfolio's smart account, whose operation it is.",
      anyPattern.account,
      "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7"
    ),
    signed: OwnerMessage.annotate({
      description: "What is signed: the hash of the account's user operation that pays the recipient (ERC-4337)."
    }),
    ...signedMessage
  }).annotate({
    identifier: "WithdrawalOperation",
    description: "An operation of the account, which carries out one withdrawal of the native coin."
  })
}).annotate({
  identifier: "WithdrawalOperationAuthorization",
  description: "What the owner of an EVM portfolio signs to withdraw the native coin."
})

/** The answer of stage 1, by the chain of the recipient. */
export const WithdrawalAuthorization = Schema.Union([
  TypedDataAuthorization,
  TextAuthorization,
  OperationAuthorization
]).annotate({
  description:
    "Form to sign: `typedData` for tokens of EVM chains, `operation` for a native coin, `authorization` on Solana."
})

const { assets, expiresAt, nonce } = WithdrawalMessage.fields

/** The body of stage 2. */
export const WithdrawalBody = Schema.Struct({
  message: Schema.Struct({
    // Any text is read: a message of another portfolio is refused as such (API_214), whatever the form of its id.
    portfolioId: Schema.String.check(shown({ pattern: portfolioIdPattern.source })).annotate({
      description: "Value that stage 1 issued; the portfolio of the path.",
      examples: ["pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"]
    }),
    recipientAccountId: recipient.annotate({ description: "Value that stage 1 issued." }),
    assets: assets.annotate({
      description: "Values that stage 1 issued.",
      examples: [
        [
          {
            assetId: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" as AssetId,
            amountRaw: "1500500000"
          }
        ]
      ]
    }),
    nonce: nonce.annotate({ description: "Value that stage 1 issued.", examples: [nonceExample] }),
    expiresAt: expiresAt.annotate({ description: "Value that stage 1 issued.", examples: [expiresAtExample] }),
    liquidate: Schema.optionalKey(
      Schema.Literal(true).annotate({ description: "Value that stage 1 issued, or left out like there." })
    )
  }).annotate({
    identifier: "SignedWithdrawalMessage",
    description: "`typedData.message` of stage 1, `operation.message` or `authorization.message`, unchanged.",
    examples: [typedDataExample.message]
  }),
  signature: Schema.String.check(
    Schema.isPattern(
      new RegExp(`^(?:0x(?:[0-9a-fA-F]{2}){1,${maxSignatureBytes}}|[1-9A-HJ-NP-Za-km-z]{64,88})$`, "u"),
      {
        expected: `1 to ${maxSignatureBytes} bytes in hex with 0x, or of a Solana key 64 bytes in base58`
      }
    )
  ).annotate({
    description:
      "The owner's signature over what stage 1 issued, in hex: 65 bytes of a wallet, or what a contract wallet makes. Of a Solana key 64 bytes in base58.",
    examples: [`0x${"1b".repeat(65)}`]
  })
}).annotate({ identifier: "WithdrawalBody", description: "The message of stage 1 and the owner's signature." })
