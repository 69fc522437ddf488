/** Whether the holder of a role agreed to an instruction, by the program's rules. */
import { secp256k1 } from "@noble/curves/secp256k1"
import { hexToBytes, keccak256 } from "viem"
import type { TransactionInstruction } from "@solana/web3.js"
import type { Proof } from "#layers/solana/swig/Authority.ts"
import { signatureSlots, signedText } from "#layers/solana/swig/signedText.ts"
import type { RoleHolder } from "#layers/solana/swig/WalletState.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"

interface Claim {
  readonly instruction: TransactionInstruction
  readonly proof: Proof
  /** What a personal signature covers of the data. */
  readonly signed: Uint8Array
  readonly slot: bigint
}

/** The holder as it is afterwards: a signature counts. Throws the program's error where it did not agree. */
export const authenticate = (holder: RoleHolder, claim: Claim): RoleHolder => {
  const { proof } = claim
  if (holder._tag === "Ed25519") {
    if (proof._tag !== "Signer") throw refuse("malformedProof")
    const account = claim.instruction.keys[proof.index]
    if (account === undefined) throw refuse("authorityAccountMissing")
    if (!account.isSigner || !account.pubkey.equals(holder.key)) throw refuse("permissionDenied")
    return holder
  }
  // A passkey's signature is not checked in this world.
  if (holder._tag === "Other") throw refuse("permissionDenied")
  if (proof._tag !== "PersonalSignature") throw refuse("malformedProof")
  if (proof.odometer !== holder.odometer + 1) throw refuse("signatureReused")
  if (claim.slot < proof.slot || claim.slot - proof.slot > signatureSlots) throw refuse("signatureRefused")
  const text = signedText({ ...claim, ...proof, accounts: claim.instruction.keys })
  const key = recover(Buffer.concat([proof.prefix, Buffer.from(text)]), proof.signature)
  if (!Buffer.from(key).equals(holder.key)) throw refuse("permissionDenied")
  return { ...holder, odometer: proof.odometer }
}

/** The compressed key that signed. A signature with the greater of the two possible `s` is refused. */
const recover = (message: Uint8Array, signature: Uint8Array): Uint8Array => {
  const recovery = signature[64]! - 27
  if (recovery !== 0 && recovery !== 1) throw refuse("signatureRefused")
  try {
    const parsed = secp256k1.Signature.fromCompact(signature.slice(0, 64)).addRecoveryBit(recovery)
    if (parsed.hasHighS()) throw refuse("signatureRefused")
    return parsed.recoverPublicKey(hexToBytes(keccak256(message))).toRawBytes(true)
  } catch {
    throw refuse("signatureRefused")
  }
}

/** A key of 64 bytes in the 33 that the program keeps. */
export const compress = (key: Uint8Array): Uint8Array =>
  key.length === 33 ? key : secp256k1.ProjectivePoint.fromHex(Uint8Array.of(4, ...key)).toRawBytes(true)
