/** Another key for a role, which keeps its permissions. Source: the program's `replace_authority_v1.rs`. */
import { type PublicKey, TransactionInstruction } from "@solana/web3.js"
import { Effect } from "effect"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import { replaceAuthorityV1 } from "#layers/solana/withdrawal/programFeatures.ts"
import { type EvmRoot, personalProof, type SignatureTerms } from "#layers/solana/withdrawal/leave/OwnerKey.ts"

const root = 0

interface Replacement {
  readonly role: number
  /** The role's holder from then on. */
  readonly key: PublicKey
}

const dataOf = ({ key, role }: Replacement, actingRole: number): Buffer => {
  const head = Buffer.alloc(16)
  head.writeUInt16LE(replaceAuthorityV1, 0)
  head.writeUInt32LE(actingRole, 4)
  head.writeUInt32LE(role, 8)
  head.writeUInt16LE(32, 12)
  return Buffer.concat([head, key.toBytes()])
}

/** The instruction of a Solana key that holds the acting role, the root where none is named. */
export const replaceAuthority = (
  wallet: PublicKey,
  { holder, ...replacement }: Replacement & { readonly holder: PublicKey },
  actingRole = root
): TransactionInstruction =>
  new TransactionInstruction({
    programId: swigProgram,
    keys: [
      { pubkey: wallet, isSigner: false, isWritable: true },
      { pubkey: holder, isSigner: true, isWritable: false }
    ],
    data: Buffer.concat([dataOf(replacement, actingRole), Uint8Array.of(1)])
  })

/** The instruction of an EVM wallet that holds the root: it signs one text, and whoever pays signs the transaction. */
export const replaceAuthorityByEvm = Effect.fnUntraced(function* (
  wallet: PublicKey,
  replacement: Replacement,
  { evm, terms }: { readonly evm: EvmRoot; readonly terms: SignatureTerms }
) {
  const keys = [{ pubkey: wallet, isSigner: false, isWritable: true }]
  const signed = dataOf(replacement, root)
  const proof = yield* personalProof(evm, terms, { signed, accounts: keys })
  return new TransactionInstruction({ programId: swigProgram, keys, data: Buffer.concat([signed, proof]) })
})
