/**
 * What an owner signs at an enrollment, by the kind of the owner. Source: interface "enroll/signature", shapes 2.15.
 */
import { Schema } from "effect"
import { addressText, hexBytes, prose } from "#http/values/values.ts"

const hash = "0x5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"

const EcdsaMessage = Schema.Struct({
  kind: Schema.Literal("ecdsa").annotate({ description: "A key signs `raw`.", examples: ["ecdsa"] }),
  raw: hexBytes("32 bytes in hex. The owner signs the bytes, not the text, with EIP-191 personal sign.", 32, hash)
}).annotate({ identifier: "EcdsaMessage", description: "What an owner with a key signs." })

const TypedData = Schema.Struct({
  domain: Schema.Struct({
    name: Schema.Literal("Kernel").annotate({ description: "Name of the account's implementation." }),
    version: Schema.Literal("0.3.1").annotate({ description: "Version of the account's implementation." }),
    chainId: Schema.Int.annotate({ description: "The portfolio's only chain.", examples: [8453] }),
    verifyingContract: addressText("The portfolio's account on that chain.")
  }).annotate({ description: "The EIP-712 domain." }),
  types: Schema.Struct({
    Kernel: Schema.Array(
      Schema.Struct({
        name: Schema.Literal("hash").annotate({ description: "Name of the member." }),
        type: Schema.Literal("bytes32").annotate({ description: "Type of the member." })
      })
    ).annotate({ description: "Members of the signed struct, in the order that is hashed." })
  }).annotate({ description: "The EIP-712 types, without that of the domain." }),
  primaryType: Schema.Literal("Kernel").annotate({ description: "The struct that is signed.", examples: ["Kernel"] }),
  message: Schema.Struct({
    hash: hexBytes("32 bytes in hex: what the account will check.", 32, hash)
  }).annotate({ description: "The values that are signed." })
}).annotate({ identifier: "KernelTypedData", description: "EIP-712 data, as it is passed to `signTypedData`." })

const TypedDataMessage = Schema.Struct({
  kind: Schema.Literal("typed-data").annotate({
    description: "A contract wallet signs `typedData` with EIP-712.",
    examples: ["typed-data"]
  }),
  typedData: TypedData
}).annotate({ identifier: "TypedDataMessage", description: "What an owner that is a contract signs." })

const SolanaText = Schema.Struct({
  kind: Schema.Literal("solana-message").annotate({
    description: "The owner signs `solanaTransaction`.",
    examples: ["solana-message"]
  }),
  text: prose("What the transaction does, for people; it is not signed itself.", 2_000, "Ballast enrollment on Solana")
}).annotate({ identifier: "SolanaTextMessage", description: "What an owner with a Solana key agrees to." })

/** Message by kind of owner. */
export const OwnerMessage = Schema.Union([EcdsaMessage, TypedDataMessage, SolanaText]).annotate({
  description:
    "What the owner signs, in the way that `kind` names. Of an EVM wallet on Solana `raw` is an example, and not signed: it is the hash that the wallet would sign as a text at the slot of this answer."
})
