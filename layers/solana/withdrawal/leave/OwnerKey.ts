/**
 * The owner's keys, as they leave without the service: one that holds the wallet's root, and a Solana key that pays and
 * receives. Of a Solana owner both are one.
 */
import type { AccountMeta, Keypair } from "@solana/web3.js"
import { Effect } from "effect"
import { type Hex, hexToBytes } from "viem"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { personalSignPrefix, signedText } from "#layers/solana/swig/signedText.ts"

export interface EvmRoot {
  /** Uncompressed, without its first byte: 64 bytes. */
  readonly publicKey: Uint8Array
  /** The wallet's `personal_sign` of a text. */
  readonly sign: (text: string) => Promise<Hex>
}

export interface OwnerKey {
  /** Pays for transactions, receives what is taken out, and is the root where `evm` is left out. */
  readonly key: Keypair
  readonly evm?: EvmRoot
}

/** What the next signature of an EVM root names. */
export interface SignatureTerms {
  readonly slot: bigint
  /** One more than the wallet has counted. */
  readonly odometer: number
}

/** The end of an instruction's data by which an EVM root agrees to it. */
export const personalProof = Effect.fnUntraced(function* (
  { sign }: EvmRoot,
  { odometer, slot }: SignatureTerms,
  instruction: { readonly signed: Uint8Array; readonly accounts: ReadonlyArray<AccountMeta> }
) {
  const signature = yield* Effect.promise(() => sign(signedText({ ...instruction, slot, odometer })))
  const head = Buffer.alloc(12)
  head.writeBigUInt64LE(slot, 0)
  head.writeUInt32LE(odometer, 8)
  return Buffer.concat([head, hexToBytes(signature), personalSignPrefix])
})

/** The slot that a signature of now names. */
export const currentSlot = Effect.gen(function* () {
  return (yield* (yield* SolanaRpc).position("confirmed")).slot
})
