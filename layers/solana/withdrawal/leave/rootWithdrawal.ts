/**
 * The program's own way out, for programs older than August 2026: the root moves an asset from the sub-account to the
 * wallet's own address, and signs for that address. It moves no tokens whose transfer must name the mint.
 */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createTransferCheckedInstruction
} from "@solana/spl-token"
import { PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js"
import {
  createEd25519AuthorityInfo,
  createSecp256k1AuthorityInfo,
  type Ed25519Authority,
  Ed25519Instruction,
  getMockAuthorityFromCreateAuthorityInfo,
  type Secp256k1Authority,
  Secp256k1Instruction,
  SolInstruction,
  type SwigInstructionContext
} from "@swig-wallet/lib"
import { hexToBytes } from "viem"
import { rootHoldings } from "#layers/solana/swig/addresses.ts"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import { personalSignPrefix } from "#layers/solana/swig/signedText.ts"
import { isSol } from "#layers/solana/token/nativeSol.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"
import type { OwnerKey, SignatureTerms } from "#layers/solana/withdrawal/leave/OwnerKey.ts"

const root = 0

/** What leaves of a portfolio; `lamports` of it that are not in the token account. */
interface RootWithdrawal {
  readonly place: PortfolioRole
  readonly token: Mint
  readonly tokensRaw: bigint
  readonly lamports: bigint
}

const instructionOf = (context: SwigInstructionContext): TransactionInstruction => {
  const [instruction] = context.getWeb3Instructions()
  const { data, keys, programId } = instruction!
  return new TransactionInstruction({
    programId: new PublicKey(programId.toBytes()),
    keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey.toBytes()) })),
    data: Buffer.from(data)
  })
}

const ed25519Root = (key: PublicKey) =>
  getMockAuthorityFromCreateAuthorityInfo(createEd25519AuthorityInfo(key)) as Ed25519Authority

const secp256k1Root = (publicKey: Uint8Array) =>
  getMockAuthorityFromCreateAuthorityInfo(createSecp256k1AuthorityInfo(publicKey)) as Secp256k1Authority

/** Signatures of the root as the packages take them; each of an EVM root counts. */
const signaturesOf = ({ evm, key }: OwnerKey, terms: SignatureTerms) => {
  let { odometer } = terms
  const payer = key.publicKey
  return () => {
    if (evm === undefined) return undefined
    const signingFn = async (text: Uint8Array) => ({
      signature: hexToBytes(await evm.sign(new TextDecoder().decode(text))),
      prefix: personalSignPrefix
    })
    return { currentSlot: terms.slot, odometer: odometer++, payer, signingFn }
  }
}

/** Instructions of one transaction, with two signatures of the root for tokens, and two for lamports. */
export const rootWithdrawal = async (
  owner: OwnerKey,
  { lamports, place, token, tokensRaw }: RootWithdrawal,
  terms: SignatureTerms
): Promise<ReadonlyArray<TransactionInstruction>> => {
  const { evm, key } = owner
  const payer = key.publicKey
  const { deposit, wallet } = addressesOf(place)
  const holdings = rootHoldings(wallet).address
  const authorityData = evm?.publicKey ?? payer.toBytes()
  const next = signaturesOf(owner, terms)
  const builder = evm === undefined ? Ed25519Instruction : Secp256k1Instruction
  const accounts = { payer, swig: wallet, swigSystemAddress: holdings, subAccount: deposit }
  const signed = async (inner: TransactionInstruction) => {
    const args = {
      swigAddress: wallet,
      swigSystemAddress: holdings,
      payer,
      roleId: root,
      innerInstructions: [SolInstruction.from(inner)]
    }
    const options = next()
    return instructionOf(
      await (options === undefined
        ? ed25519Root(payer).signV2(args)
        : secp256k1Root(authorityData).signV2({ ...args, options }))
    )
  }
  const instructions: Array<TransactionInstruction> = []
  if (tokensRaw > 0n) {
    const { decimals, mint, program } = token
    const [from, through, to] = [deposit, holdings, payer].map((holder) =>
      associatedAccount(holder, mint, program)
    ) as [PublicKey, PublicKey, PublicKey]
    const open = (account: PublicKey, holder: PublicKey) =>
      createAssociatedTokenAccountIdempotentInstruction(payer, account, holder, mint, program)
    const withdrawal = await builder.subAccountWithdrawV1TokenInstruction(
      { ...accounts, subAccountToken: from, swigToken: through, tokenProgram: program },
      { roleId: root, authorityData, amount: tokensRaw },
      next()
    )
    const move = createTransferCheckedInstruction(through, mint, to, holdings, tokensRaw, decimals, [], program)
    instructions.push(open(through, holdings), open(to, payer), instructionOf(withdrawal), await signed(move))
    if (isSol(mint)) instructions.push(createCloseAccountInstruction(to, payer, payer, [], program))
  }
  if (lamports > 0n) {
    const withdrawal = await builder.subAccountWithdrawV1SolInstruction(
      accounts,
      { roleId: root, authorityData, amount: lamports },
      next()
    )
    const move = SystemProgram.transfer({ fromPubkey: holdings, toPubkey: payer, lamports })
    instructions.push(instructionOf(withdrawal), await signed(move))
  }
  return instructions
}
