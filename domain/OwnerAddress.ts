/** The address of an owner on any network that the service knows: EVM (EIP-55) or Solana (base58), without a chain. */
import { Schema } from "effect"
import * as Base58 from "#domain/Base58.ts"
import { EvmAddress } from "#domain/Caip.ts"
import { fromText } from "#domain/fromText.ts"

/** A Solana address: 32 bytes in base58, which have one spelling. */
const SolanaAddress = fromText(Schema.String.pipe(Schema.brand("SolanaAddress")), {
  expected: "a Solana address of 32 bytes in base58",
  pattern: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u,
  example: "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU",
  parse: (text) => (Base58.isBytes32(text) ? text : undefined),
  format: (address) => address
})

export const OwnerAddress = Schema.Union([EvmAddress, SolanaAddress]).annotate({
  message:
    "Expected an EVM address of 20 hex bytes, with a valid EIP-55 checksum when mixed-case, or a Solana address in base58"
})
export type OwnerAddress = typeof OwnerAddress.Type
