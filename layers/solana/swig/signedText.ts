/** What an EVM owner signs for a Swig instruction. Source: the program's `state/src/authority/secp256k1.rs`. */
import { sha256 } from "@noble/hashes/sha2"
import { bytesToHex } from "@noble/hashes/utils"
import type { AccountMeta } from "@solana/web3.js"

/** A signature is good for so many slots after the one that it names, about 24 seconds. */
export const signatureSlots = 60n

/**
 * The text of 64 hexadecimal characters that the owner signs with `personal_sign`.
 *
 * @param signed the instruction's data before the proof; the packed instructions alone where it signs for an account
 * @param accounts all accounts of the instruction, in their order
 * @param slot a slot that has been, at most `signatureSlots` ago
 * @param odometer one more than the number of signatures that the wallet has seen of this owner
 */
export const signedText = ({
  accounts,
  odometer,
  signed,
  slot
}: {
  readonly signed: Uint8Array
  readonly accounts: ReadonlyArray<AccountMeta>
  readonly slot: bigint
  readonly odometer: number
}): string => {
  const hash = sha256.create().update(signed)
  for (const { isSigner, isWritable, pubkey } of accounts) {
    hash.update(pubkey.toBytes()).update(Uint8Array.of(isWritable ? 1 : 0, isSigner ? 1 : 0, 0, 0, 0, 0, 0, 0))
  }
  const end = new Uint8Array(12)
  const view = new DataView(end.buffer)
  view.setBigUint64(0, slot, true)
  view.setUint32(8, odometer, true)
  return bytesToHex(hash.update(end).digest())
}

/** What `personal_sign` puts before a text of 64 characters. */
export const personalSignPrefix: Uint8Array = new TextEncoder().encode("\x19Ethereum Signed Message:\n64")
