/** The key that may act in a role of a wallet, and by which proof. */
import { PublicKey } from "@solana/web3.js"
import { ByteReader, MalformedBytes } from "#layers/solana/swig/ByteReader.ts"

/** A key that is an authority: a Solana key, or an EVM owner's public key, compressed (33 bytes) or not (64). */
export type Authority =
  | { readonly _tag: "Ed25519"; readonly key: PublicKey }
  | { readonly _tag: "Secp256k1"; readonly key: Uint8Array }

/** The program's numbers of the authorities' kinds. */
const ed25519 = 1
const secp256k1 = 3

/** Reads the key of an authority of the kind with that number. */
export const decodeAuthority = (kind: number, key: Uint8Array): Authority => {
  if (kind === ed25519 && key.length === 32) return { _tag: "Ed25519", key: new PublicKey(key) }
  if (kind === secp256k1 && (key.length === 33 || key.length === 64)) return { _tag: "Secp256k1", key }
  throw new MalformedBytes(`an authority of kind ${kind} with a key of ${key.length} bytes is not one that we use`)
}

/** What ends an instruction's data and proves that the authority agreed. */
export type Proof =
  /** The index of the authority among the instruction's accounts; it signs the transaction. */
  | { readonly _tag: "Signer"; readonly index: number }
  /** An EIP-191 signature (r, s, v) over the text of `signedText`, good for some slots and once. */
  | {
      readonly _tag: "PersonalSignature"
      readonly slot: bigint
      readonly odometer: number
      readonly signature: Uint8Array
      readonly prefix: Uint8Array
    }

const prefixLength = 28

export const decodeProof = (bytes: Uint8Array): Proof => {
  const reader = new ByteReader(bytes, "authority payload")
  if (bytes.length === 1) return { _tag: "Signer", index: reader.u8() }
  const proof = {
    _tag: "PersonalSignature" as const,
    slot: reader.u64(),
    odometer: reader.u32(),
    signature: reader.bytes(65),
    prefix: reader.bytes(prefixLength)
  }
  reader.end()
  return proof
}
