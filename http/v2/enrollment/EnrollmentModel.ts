/**
 * The two stages of an enrollment on the wire. Source: interface "enroll/signature" and "enroll", shapes 2.15 and 2.16.
 */
import { Schema } from "effect"
import {
  anyPattern,
  namespaceOf,
  patterns,
  AssetId,
  WalletId,
  solanaChainId,
  solanaReference,
  ChainId
} from "#domain/values/Caip.ts"
import { AccountType } from "#domain/account/Authorization.ts"
import { maxSignatureBytes } from "#domain/account/OwnerMessage.ts"
import { widestTermsBps } from "#domain/enrollment/PermissionTerms.ts"
import type { FlowId } from "#domain/values/Ids.ts"
import { PortfolioName } from "#domain/portfolio/PortfolioName.ts"
import { OwnerMessage } from "#http/v2/enrollment/OwnerMessageModel.ts"
import { SignedParts } from "#http/v2/enrollment/SignedPartsModel.ts"
import { labels, labelsDraft } from "#http/values/labels.ts"
import { solanaField } from "#http/values/solanaField.ts"
import { SmartAccount } from "#http/portfolio/PortfolioModel.ts"
import { FlowIdParam, PortfolioIdText, prose, StrategyIdParam, StrategyIdText, written } from "#http/values/values.ts"

const maxChains = 10

/** 1,232 bytes at most. */
const base64Text = /^[A-Za-z0-9+/]{1,1644}={0,2}$/u

const owner = WalletId.annotate({
  message: `Expected a CAIP-10 wallet of the form eip155:0:<address>, with a valid EIP-55 checksum when mixed-case, such as eip155:0:0x52908400098527886E0F7030069857D2E4169EE7, or solana:${solanaReference}:<base58>`
})

export const chainIds = Schema.Array(ChainId)
  .check(
    Schema.isBetweenLength(1, maxChains, { expected: `1 to ${maxChains} chain ids` }),
    Schema.isUnique({ expected: "chain ids without duplicates" })
  )
  .annotate({
    description: `The chains on which the portfolio gets a smart account, none twice; exactly one with \`accountType\` \`ERC1271\`. EVM chains, or Solana (${solanaChainId}) alone.`,
    examples: [[8453, 42161].map((id) => ChainId.make(id))]
  })

const accountType = AccountType.annotate({
  description:
    "How the owner signs: `ECDSA`, the default, with a key; `ERC1271` as a contract that is deployed on the one chain and verifies the signature. The same in both stages.",
  examples: ["ECDSA"]
})

const common = {
  ownerAccountId: owner,
  strategyId: StrategyIdParam,
  chainIds,
  accountType: Schema.optionalKey(accountType)
}

export const lossBps = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: widestTermsBps })).annotate({
    description: `${description} In basis points, 1 to ${widestTermsBps}; ${widestTermsBps} when left out.`,
    examples: [100]
  })

/** Rules beside the guard's own. */
export const Terms = Schema.Struct({
  maxTradeLossBps: Schema.optionalKey(lossBps("Most that one trade may lose against reference prices.")),
  maxWeeklyLossBps: Schema.optionalKey(lossBps("Most that all trades of seven days may lose, of the account.")),
  closedList: Schema.optionalKey(
    Schema.Array(AssetId)
      .check(
        Schema.isBetweenLength(1, 200, { expected: "1 to 200 assets" }),
        Schema.isUnique({ expected: "assets without duplicates" })
      )
      .annotate({
        description:
          "The only assets that the agent may buy, at least one of each chain, the chain's USDC for transfers and liquidations among them; when left out, all that the chain's registry lists.",
        examples: [
          [
            "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" as AssetId,
            "eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831" as AssetId
          ]
        ]
      })
  )
}).annotate({
  identifier: "PermissionTerms",
  description: "Tighter terms of the permission, which the chain enforces; only on chains with a trade guard."
})

/** The body of stage 1. */
export const SignatureRequest = Schema.Struct({ ...common, terms: Schema.optionalKey(Terms) }).annotate({
  identifier: "SignatureRequest",
  description: "What the owner is to authorize."
})
export type SignatureRequest = typeof SignatureRequest.Type

const agentExample = "eip155:0:0x8617E340B3D01FA5F11F306F4090FD50E238070D"

const SolanaAccountText = (description: string, example: string) =>
  written(description, patterns.solanaAccount, `solana:${solanaReference}:${example}`)

const exampleWallet = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
const exampleDeposit = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"

/** Only of an enrollment on Solana. */
const issuedOnSolana = {
  solanaTransaction: solanaField(
    written(
      "Transaction for an owner with a Solana key to sign, base64, with empty signatures. Sign and send it within a minute.",
      base64Text,
      "AgAAAAAAAAAA"
    )
  ),
  walletAccountId: solanaField(
    SolanaAccountText("Solana: CAIP-10 of the owner's wallet, of which the owner is the root.", exampleWallet)
  ),
  depositAccountId: solanaField(
    SolanaAccountText("Solana: CAIP-10 of the portfolio's sub-account, which the owner funds.", exampleDeposit)
  ),
  walletRoleId: solanaField(
    Schema.Int.annotate({
      description: "Solana: the agent's role in the wallet; 1 for the wallet's first portfolio.",
      examples: [1]
    })
  ),
  reusedWallet: solanaField(
    Schema.Boolean.annotate({
      description: "Solana: whether the owner's wallet is there already; else stage 2 makes it.",
      examples: [false]
    })
  ),
  odometer: solanaField(
    Schema.Int.annotate({
      description:
        "Number that the next signature of an EVM wallet on Solana must count, 1 for a new wallet. Part of the text that it signs.",
      examples: [1]
    })
  )
}

/** The answer of stage 1. */
export const SignatureIssued = Schema.Struct({
  message: OwnerMessage,
  agentAccountId: written(
    "CAIP-10 of the agent key that is authorized; send it back unchanged.",
    anyPattern.wallet,
    agentExample
  ),
  accountIndex: written(
    "Which of the owner's accounts this will be; peeked, not reserved. A string; send it back unchanged.",
    /^(0|[1-9][0-9]{0,77})$/u,
    "0"
  ),
  accountType: AccountType.annotate({ description: "How the owner signs.", examples: ["ECDSA"] }),
  flowId: FlowIdParam.annotate({
    description: "Id of the flow, valid 24 hours; the idempotency anchor of stage 2.",
    examples: ["flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9" as FlowId]
  }),
  authorization: Schema.optionalKey(SignedParts),
  ...issuedOnSolana
}).annotate({
  identifier: "SignatureIssued",
  description: "The message to sign and the values to send back at stage 2."
})

/** What comes back from stage 1 as it was issued. */
export const issued = {
  flowId: FlowIdParam,
  accountIndex: Schema.String.check(
    Schema.isPattern(/^(0|[1-9][0-9]{0,77})$/u, { expected: "the accountIndex of stage 1, a decimal string" })
  ).annotate({
    description: "Value that stage 1 answered, a string.",
    examples: ["0"]
  }),
  agentAccountId: WalletId.annotate({ description: "Value that stage 1 answered.", examples: [agentExample as never] })
}

const ecdsaSignature = /^0x[0-9a-fA-F]{130}$/u
const ecdsaExpected = "65 bytes in hex with 0x"

/** Signature of a key or of a contract. */
export const OwnerSignature = Schema.String.check(
  Schema.isPattern(new RegExp(`^0x(?:[0-9a-fA-F]{2}){1,${maxSignatureBytes}}$`, "u"), {
    expected: `bytes in hex with 0x, at most ${maxSignatureBytes}`
  })
).annotate({
  description: `The owner's signature over \`message\` of stage 1, in hex: 65 bytes with \`ECDSA\`, up to ${maxSignatureBytes} bytes with \`ERC1271\`.`,
  examples: [`0x${"1b".repeat(65)}`]
})

/** What an owner sends for an enrollment on Solana. */
const solanaConsent = {
  signedSolanaTransaction: solanaField(
    Schema.String.check(Schema.isPattern(base64Text, { expected: "a transaction in base64" })).annotate({
      description: "Required of an owner with a Solana key: `solanaTransaction` of stage 1 with the owner's signature.",
      examples: ["AgAAAAAAAAAA"]
    })
  ),
  userSecp256k1PublicKey: solanaField(
    Schema.String.check(
      Schema.isPattern(/^0x(?:[0-9a-fA-F]{66}|[0-9a-fA-F]{128}|[0-9a-fA-F]{130})$/u, {
        expected: "a secp256k1 public key of 33, 64 or 65 bytes in hex with 0x"
      })
    ).annotate({
      description: "Required of an EVM wallet on Solana: the wallet's public key.",
      examples: [`0x02${"5f".repeat(32)}`]
    })
  ),
  currentSlot: solanaField(
    Schema.Union([
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      Schema.String.check(Schema.isPattern(/^(?:0|[1-9][0-9]{0,15})$/u, { expected: "a slot, a decimal integer" }))
    ]).annotate({
      description:
        "Required of an EVM wallet on Solana: the slot in the text that was signed, a number or a string. Solana accepts the signature up to 60 slots later, 24 seconds.",
      examples: [363_000_000]
    })
  )
}

const consentFields = ["signature", "signedSolanaTransaction", "userSecp256k1PublicKey", "currentSlot"] as const

/** What of an owner's consent is missing, or is not of the owner's model. */
const consentProblem = (
  body: { readonly ownerAccountId: WalletId; readonly chainIds: ReadonlyArray<ChainId> } & {
    readonly [Field in (typeof consentFields)[number]]?: unknown
  }
) => {
  const wanted: ReadonlyArray<(typeof consentFields)[number]> = !body.chainIds.includes(solanaChainId)
    ? ["signature"]
    : namespaceOf(body.ownerAccountId) === "solana"
      ? ["signedSolanaTransaction"]
      : ["userSecp256k1PublicKey", "signature", "currentSlot"]
  const wrong =
    wanted.find((field) => body[field] === undefined) ??
    consentFields.find((field) => !wanted.includes(field) && body[field] !== undefined)
  return (
    wrong && {
      path: [wrong],
      issue: `${wanted.includes(wrong) ? "Required of" : "Not sent by"} this owner on these chains`
    }
  )
}

/** The body of stage 2. */
export const EnrollBody = Schema.Struct({
  ...common,
  ...issued,
  signature: Schema.optionalKey(OwnerSignature),
  ...solanaConsent,
  portfolioName: Schema.optionalKey(
    Schema.NullOr(PortfolioName).annotate({
      description: "1 to 64 characters after trimming: letters, digits, spaces and `- _ . ' : ( ) & /`.",
      examples: ["Savings"]
    })
  ),
  ...labelsDraft
})
  .check(
    Schema.makeFilter((body) => {
      const problem = consentProblem(body)
      if (problem !== undefined) return problem
      const { accountType, signature } = body
      return accountType === "ERC1271" || signature === undefined || ecdsaSignature.test(signature)
        ? undefined
        : { path: ["signature"], issue: `Expected ${ecdsaExpected}` }
    })
  )
  .annotate({ identifier: "EnrollBody", description: "The values of stage 1 and the owner's signature." })
export type EnrollBody = typeof EnrollBody.Type

/** The answer of stage 2. */
export const EnrolledPortfolio = Schema.Struct({
  portfolioId: PortfolioIdText,
  portfolioName: Schema.NullOr(prose("The portfolio's name.", 128, "Savings")).annotate({
    description: "Null when no name was given.",
    examples: ["Savings"]
  }),
  strategyId: StrategyIdText,
  smartAccounts: Schema.Array(SmartAccount).annotate({
    description: "One account for each requested chain, ready to be funded."
  }),
  ...labels
}).annotate({ identifier: "EnrolledPortfolio", description: "The portfolio that was made." })
