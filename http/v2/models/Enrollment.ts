/** The two stages of an enrollment on the wire. Source: interface "enroll/signature" and "enroll", shapes 2.15 and 2.16. */
import { Schema } from "effect"
import { EvmWalletId, solanaReference } from "#domain/Caip.ts"
import { PortfolioName } from "#domain/portfolio/PortfolioName.ts"
import { SmartAccount } from "#http/v2/models/Portfolio.ts"
import { FlowIdParam, FlowIdText, PortfolioIdText, StrategyIdParam, StrategyIdText } from "#http/v2/models/values.ts"

const maxChains = 10

/** A Solana owner is read far enough to be refused for the right reason. */
const SolanaOwner = Schema.String.check(
  Schema.isPattern(new RegExp(`^solana:${solanaReference}:[1-9A-HJ-NP-Za-km-z]{32,44}$`, "u"))
)

const owner = Schema.Union([EvmWalletId, SolanaOwner]).annotate({
  message: `Expected a CAIP-10 wallet of the form eip155:0:<address>, with a valid EIP-55 checksum when mixed-case, or solana:${solanaReference}:<base58>`
})

const chainIds = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })))
  .check(
    Schema.isBetweenLength(1, maxChains, { expected: `1 to ${maxChains} chain ids` }),
    Schema.isUnique({ expected: "chain ids without duplicates" })
  )
  .annotate({
    description: "The chains on which the portfolio gets a smart account, none twice.",
    examples: [[8453, 42161]]
  })

const AccountType = Schema.Literals(["ECDSA", "ERC1271"])
  .annotate({
    description: "How the owner signs. Only `ECDSA`, the default, is supported; `ERC1271` is refused.",
    examples: ["ECDSA"]
  })
  .check(
    Schema.makeFilter((type) => type !== "ERC1271", {
      expected: "ECDSA; ERC1271 owners are not supported by this deployment"
    })
  )

const common = {
  ownerAccountId: owner,
  strategyId: StrategyIdParam,
  chainIds,
  accountType: Schema.optionalKey(AccountType)
}

/** The body of stage 1. */
export const SignatureRequest = Schema.Struct(common).annotate({
  identifier: "SignatureRequest",
  description: "What the owner will be asked to authorize."
})
export type SignatureRequest = typeof SignatureRequest.Type

/** The answer of stage 1. */
export const SignatureIssued = Schema.Struct({
  message: Schema.Struct({
    kind: Schema.Literal("ecdsa").annotate({ description: "How `raw` is signed." }),
    raw: Schema.String.annotate({
      description: "32 bytes in hex. The owner signs the bytes, not the text, with EIP-191 personal sign.",
      examples: ["0x5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"]
    })
  }).annotate({ identifier: "EcdsaMessage", description: "What the owner signs." }),
  agentAccountId: Schema.String.annotate({
    description: "CAIP-10 of the agent key that is authorized; send it back unchanged.",
    examples: ["eip155:0:0x27b1fdb04752bbc536007a920d24acb045561c26"]
  }),
  accountIndex: Schema.String.annotate({
    description: "Which of the owner's accounts this will be; peeked, not reserved. A string; send it back unchanged.",
    examples: ["0"]
  }),
  accountType: Schema.Literal("ECDSA").annotate({ description: "How the owner signs." }),
  flowId: FlowIdText
}).annotate({
  identifier: "SignatureIssued",
  description: "The message to sign and the values to send back at stage 2."
})

/** The body of stage 2. */
export const EnrollBody = Schema.Struct({
  flowId: FlowIdParam,
  ...common,
  accountIndex: Schema.String.check(
    Schema.isPattern(/^(0|[1-9][0-9]{0,77})$/u, { expected: "the accountIndex of stage 1, a decimal string" })
  ).annotate({
    description: "As stage 1 answered it, a string.",
    examples: ["0"]
  }),
  agentAccountId: EvmWalletId,
  signature: Schema.String.check(
    Schema.isPattern(/^0x[0-9a-fA-F]{130}$/u, { expected: "65 bytes in hex with 0x" })
  ).annotate({
    description: "The owner's EIP-191 signature over the 32 bytes of `message.raw`: 65 bytes in hex.",
    examples: [`0x${"1b".repeat(65)}`]
  }),
  portfolioName: Schema.optionalKey(
    Schema.NullOr(PortfolioName).annotate({
      description: "1 to 64 characters after trimming: letters, digits, spaces and `- _ . ' : ( ) & /`.",
      examples: ["Savings"]
    })
  )
}).annotate({ identifier: "EnrollBody", description: "The values of stage 1 and the owner's signature." })
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
