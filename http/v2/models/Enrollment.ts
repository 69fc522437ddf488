/** The two stages of an enrollment on the wire. Source: interface "enroll/signature" and "enroll", shapes 2.15 and 2.16. */
import { Schema } from "effect"
import { EvmWalletId, solanaReference } from "#domain/Caip.ts"
import { AccountType } from "#domain/enrollment/Authorization.ts"
import { maxSignatureBytes } from "#domain/enrollment/OwnerMessage.ts"
import { PortfolioName } from "#domain/portfolio/PortfolioName.ts"
import { SmartAccount } from "#http/v2/models/Portfolio.ts"
import { FlowIdParam, PortfolioIdText, StrategyIdParam, StrategyIdText } from "#http/v2/models/values.ts"

const maxChains = 10

/** A Solana owner is read far enough to be refused for the right reason. */
const SolanaOwner = Schema.String.check(
  Schema.isPattern(new RegExp(`^solana:${solanaReference}:[1-9A-HJ-NP-Za-km-z]{32,44}$`, "u"))
)

const owner = Schema.Union([EvmWalletId, SolanaOwner]).annotate({
  message: `Expected a CAIP-10 wallet of the form eip155:0:<address>, with a valid EIP-55 checksum when mixed-case, or solana:${solanaReference}:<base58>`
})

export const chainIds = Schema.Array(
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))
)
  .check(
    Schema.isBetweenLength(1, maxChains, { expected: `1 to ${maxChains} chain ids` }),
    Schema.isUnique({ expected: "chain ids without duplicates" })
  )
  .annotate({
    description:
      "The chains on which the portfolio gets a smart account, none twice; exactly one with `accountType` `ERC1271`.",
    examples: [[8453, 42161]]
  })

const accountType = AccountType.annotate({
  description:
    "How the owner signs: `ECDSA`, the default, with a key; `ERC1271` as a contract that is deployed on the one chain and rules on the signature. The same in both stages.",
  examples: ["ECDSA"]
})

const common = {
  ownerAccountId: owner,
  strategyId: StrategyIdParam,
  chainIds,
  accountType: Schema.optionalKey(accountType)
}

/** The body of stage 1. */
export const SignatureRequest = Schema.Struct(common).annotate({
  identifier: "SignatureRequest",
  description: "What the owner will be asked to authorize."
})
export type SignatureRequest = typeof SignatureRequest.Type

const hash = "0x5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"

const EcdsaMessage = Schema.Struct({
  kind: Schema.Literal("ecdsa").annotate({ description: "A key signs `raw`.", examples: ["ecdsa"] }),
  raw: Schema.String.annotate({
    description: "32 bytes in hex. The owner signs the bytes, not the text, with EIP-191 personal sign.",
    examples: [hash]
  })
}).annotate({ identifier: "EcdsaMessage", description: "What an owner with a key signs." })

const TypedData = Schema.Struct({
  domain: Schema.Struct({
    name: Schema.String.annotate({ description: "Name of the account's implementation.", examples: ["Kernel"] }),
    version: Schema.String.annotate({ description: "Version of the account's implementation.", examples: ["0.3.1"] }),
    chainId: Schema.Int.annotate({ description: "The portfolio's only chain.", examples: [8453] }),
    verifyingContract: Schema.String.annotate({
      description: "The portfolio's account on that chain.",
      examples: ["0x52908400098527886E0F7030069857D2E4169EE7"]
    })
  }).annotate({ description: "The EIP-712 domain." }),
  types: Schema.Struct({
    Kernel: Schema.Array(
      Schema.Struct({
        name: Schema.String.annotate({ description: "Name of the member.", examples: ["hash"] }),
        type: Schema.String.annotate({ description: "Type of the member.", examples: ["bytes32"] })
      })
    ).annotate({ description: "Members of the signed struct, in the order that is hashed." })
  }).annotate({ description: "The EIP-712 types, without that of the domain." }),
  primaryType: Schema.Literal("Kernel").annotate({ description: "The struct that is signed.", examples: ["Kernel"] }),
  message: Schema.Struct({
    hash: Schema.String.annotate({ description: "32 bytes in hex: what the account will check.", examples: [hash] })
  }).annotate({ description: "The values that are signed." })
}).annotate({ identifier: "KernelTypedData", description: "EIP-712 data, as it is passed to `signTypedData`." })

const TypedDataMessage = Schema.Struct({
  kind: Schema.Literal("typed-data").annotate({
    description: "A contract wallet signs `typedData` with EIP-712.",
    examples: ["typed-data"]
  }),
  typedData: TypedData
}).annotate({ identifier: "TypedDataMessage", description: "What an owner that is a contract signs." })

/** The answer of stage 1. */
export const SignatureIssued = Schema.Struct({
  message: Schema.Union([EcdsaMessage, TypedDataMessage]).annotate({
    description: "What the owner signs; `kind` tells how."
  }),
  agentAccountId: Schema.String.annotate({
    description: "CAIP-10 of the agent key that is authorized; send it back unchanged.",
    examples: ["eip155:0:0x27b1fdb04752bbc536007a920d24acb045561c26"]
  }),
  accountIndex: Schema.String.annotate({
    description: "Which of the owner's accounts this will be; peeked, not reserved. A string; send it back unchanged.",
    examples: ["0"]
  }),
  accountType: AccountType.annotate({ description: "How the owner signs.", examples: ["ECDSA"] }),
  flowId: Schema.String.annotate({
    description: "Id of the flow, valid 24 hours; the idempotency anchor of stage 2.",
    examples: ["flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9"]
  })
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
    description: "As stage 1 answered it, a string.",
    examples: ["0"]
  }),
  agentAccountId: EvmWalletId
}

const ecdsaSignature = /^0x[0-9a-fA-F]{130}$/u
const ecdsaExpected = "65 bytes in hex with 0x"

/** Of a key or of a contract. */
export const OwnerSignature = Schema.String.check(
  Schema.isPattern(new RegExp(`^0x(?:[0-9a-fA-F]{2}){1,${maxSignatureBytes}}$`, "u"), {
    expected: `bytes in hex with 0x, at most ${maxSignatureBytes}`
  })
).annotate({
  description: `The owner's signature over \`message\` of stage 1, in hex: 65 bytes with \`ECDSA\`, up to ${maxSignatureBytes} bytes with \`ERC1271\`.`,
  examples: [`0x${"1b".repeat(65)}`]
})

/** The body of stage 2. */
export const EnrollBody = Schema.Struct({
  ...common,
  ...issued,
  signature: OwnerSignature,
  portfolioName: Schema.optionalKey(
    Schema.NullOr(PortfolioName).annotate({
      description: "1 to 64 characters after trimming: letters, digits, spaces and `- _ . ' : ( ) & /`.",
      examples: ["Savings"]
    })
  )
})
  .check(
    Schema.makeFilter(({ accountType, signature }) =>
      accountType === "ERC1271" || ecdsaSignature.test(signature)
        ? undefined
        : { path: ["signature"], issue: `Expected ${ecdsaExpected}` }
    )
  )
  .annotate({ identifier: "EnrollBody", description: "The values of stage 1 and the owner's signature." })
export type EnrollBody = typeof EnrollBody.Type

/** The answer of stage 2. */
export const EnrolledPortfolio = Schema.Struct({
  portfolioId: PortfolioIdText,
  portfolioName: Schema.NullOr(Schema.String).annotate({
    description: "Null when no name was given.",
    examples: ["Savings"]
  }),
  strategyId: StrategyIdText,
  smartAccounts: Schema.Array(SmartAccount).annotate({
    description: "One account for each requested chain, ready to be funded."
  })
}).annotate({ identifier: "EnrolledPortfolio", description: "The portfolio that was made." })
