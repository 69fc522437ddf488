/** What wallets and thieves do with the packages of the Swig program, and by an instruction that they do not have. */
import { type AccountMeta, PublicKey, TransactionInstruction } from "@solana/web3.js"
import {
  createEd25519AuthorityInfo,
  type Ed25519Authority,
  getMockAuthorityFromCreateAuthorityInfo,
  type SwigInstructionContext
} from "@swig-wallet/lib"
import { swigProgram } from "#layers/solana/swig/addresses.ts"

export const instructionOf = (context: SwigInstructionContext) => {
  const { data, keys, programId } = context.getWeb3Instructions()[0]!
  return new TransactionInstruction({
    programId: new PublicKey(programId.toBytes()),
    keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey.toBytes()) })),
    data: Buffer.from(data)
  })
}

export const authorityOf = (key: PublicKey) =>
  getMockAuthorityFromCreateAuthorityInfo(createEd25519AuthorityInfo(key)) as Ed25519Authority

const replaceAuthorityV1 = 16
const signerAt = 1

interface Replacement {
  readonly wallet: PublicKey
  readonly acting: { readonly role: number; readonly key: PublicKey }
  readonly role: number
  readonly key: PublicKey
}

/** Another key for a role, which keeps its permissions. Source: the program's `replace_authority_v1.rs`. */
export const replaceAuthority = ({ acting, key, role, wallet }: Replacement): TransactionInstruction => {
  const head = Buffer.alloc(16)
  head.writeUInt16LE(replaceAuthorityV1, 0)
  head.writeUInt32LE(acting.role, 4)
  head.writeUInt32LE(role, 8)
  head.writeUInt16LE(32, 12)
  const keys: Array<AccountMeta> = [
    { pubkey: wallet, isSigner: false, isWritable: true },
    { pubkey: acting.key, isSigner: true, isWritable: false }
  ]
  return new TransactionInstruction({
    programId: swigProgram,
    keys,
    data: Buffer.concat([head, key.toBytes(), Uint8Array.of(signerAt)])
  })
}
