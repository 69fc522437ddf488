/** What wallets and thieves do with the packages of the Swig program. */
import { PublicKey, TransactionInstruction } from "@solana/web3.js"
import {
  createEd25519AuthorityInfo,
  type Ed25519Authority,
  getMockAuthorityFromCreateAuthorityInfo,
  type SwigInstructionContext
} from "@swig-wallet/lib"

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
