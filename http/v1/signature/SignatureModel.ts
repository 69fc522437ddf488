/** Signing anew on the legacy wire. Source: interface "Legacy v1 REST routes", shapes 2.30. */
import { Schema } from "effect"
import { addressText, hexBytes, PortfolioIdText, prose, timestamp, written } from "#http/values/values.ts"

const chainId = Schema.Int.annotate({ description: "The chain.", examples: [8453] })

const messageExample = [
  "I let the agent of Ballast go on managing my portfolio pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8 (flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9)",
  "",
  "0x5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"
].join("\n")

const SignatureAction = Schema.Struct({
  reason: Schema.Literal("portfolio-resign").annotate({ description: "What is signed." }),
  type: Schema.Literal("personal_sign").annotate({ description: "How it is signed: EIP-191." }),
  message: Schema.String.check(Schema.isMaxLength(500)).annotate({
    description:
      "A line for people, an empty line, and 32 bytes in hex. The owner signs the bytes, which the chain checks; not the text.",
    examples: [messageExample]
  })
}).annotate({ identifier: "SignatureAction", description: "What the owner signs; goes back unchanged." })

export const NoBody = Schema.Record(Schema.String, Schema.Never).annotate({
  identifier: "EmptyObject",
  description: "An empty object.",
  examples: [{}]
})

export const Resigned = Schema.Struct({
  signatureAction: SignatureAction,
  signType: Schema.Literal("personal_sign").annotate({ description: "How it is signed: EIP-191." }),
  hash: hexBytes(
    "The 32 bytes that the owner signs, the same as at the end of the message.",
    32,
    "0x5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"
  ),
  userAddress: addressText("The owner."),
  agentAddress: addressText("The agent that gets the permission."),
  accountIndex: written("Salt of the accounts' address.", /^(0|[1-9][0-9]*)$/u, "0"),
  chainIds: Schema.Array(chainId).annotate({ description: "The chains of the permission." }),
  portfolioId: PortfolioIdText,
  portfolioAddresses: Schema.Array(Schema.Struct({ chainId, address: addressText("The smart account.") })).annotate({
    description: "The portfolio's smart accounts."
  })
}).annotate({ identifier: "ResignIssued", description: "What the owner signs." })

export const ResubmitBody = Schema.Struct({
  signature: Schema.String.check(
    Schema.isPattern(/^0x[0-9a-fA-F]{130}$/u, { expected: "65 bytes in hex with 0x" })
  ).annotate({
    description: "The owner's signature over the 32 bytes at the end of the message, in hex.",
    examples: [`0x${"1b".repeat(65)}`]
  }),
  signatureAction: SignatureAction
}).annotate({ identifier: "SignatureResubmission", description: "What `resign` issued, and the owner's signature." })

export const Resubmitted = Schema.Struct({
  portfolioId: PortfolioIdText,
  userAddress: addressText("The owner."),
  message: prose("Sentence for people.", 300, "The new permissions count from the next operation on each chain"),
  updatedAt: timestamp("Time of the portfolio's last change"),
  vaults: Schema.Array(Schema.Struct({ chainId, address: addressText("The smart account.") })).annotate({
    description: "The portfolio's smart accounts."
  })
}).annotate({ identifier: "SignatureResubmitted", description: "The portfolio under its new permissions." })
