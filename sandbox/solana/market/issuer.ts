/** Who issues the world's tokens: makes their mints, gives units to anybody, and halts or rescales a share's token. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createInitializePausableConfigInstruction,
  createInitializePermanentDelegateInstruction,
  createInitializeScaledUiAmountConfigInstruction,
  createMintToCheckedInstruction,
  createPauseInstruction,
  createResumeInstruction,
  createSyncNativeInstruction,
  createUpdateMultiplierDataInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
  MINT_SIZE,
  NATIVE_MINT
} from "@solana/spl-token"
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js"
import { createHash } from "node:crypto"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import { type SplToken, splCatalog } from "#sandbox/assets/splCatalog.ts"

const shareExtensions = [
  ExtensionType.ScaledUiAmountConfig,
  ExtensionType.PausableConfig,
  ExtensionType.PermanentDelegate
]

/** The authority of all mints. Nobody has its key: the ledger runs what the issuer does without signatures. */
export const issuer = new PublicKey(createHash("sha256").update("ballast sandbox issuer").digest())

const initialize = ({ decimals, mint, multiplier, program }: SplToken): ReadonlyArray<TransactionInstruction> => [
  ...(multiplier === undefined
    ? []
    : [
        createInitializeScaledUiAmountConfigInstruction(mint, issuer, multiplier, program),
        createInitializePausableConfigInstruction(mint, issuer, program),
        createInitializePermanentDelegateInstruction(mint, issuer, program)
      ]),
  createInitializeMint2Instruction(mint, decimals, issuer, issuer, program)
]

const createMint = (ledger: Ledger, token: SplToken): ReadonlyArray<TransactionInstruction> => {
  const space = token.multiplier === undefined ? MINT_SIZE : getMintLen(shareExtensions)
  return [
    SystemProgram.createAccount({
      fromPubkey: issuer,
      newAccountPubkey: token.mint,
      lamports: Number(ledger.rentOf(space)),
      space,
      programId: token.program
    }),
    ...initialize(token)
  ]
}

/** Makes the mints that a ledger does not have yet. */
export const installMints = (ledger: Ledger, tokens: ReadonlyArray<SplToken> = splCatalog): void => {
  for (const token of tokens) {
    if (ledger.account(token.mint) === undefined) ledger.operate(issuer, createMint(ledger, token))
  }
}

/** The account of an owner, a program's address too, for a token. */
export const tokenAccount = ({ mint, program }: SplToken, owner: PublicKey): PublicKey =>
  getAssociatedTokenAddressSync(mint, owner, true, program)

/** Gives raw units of a token to an owner and answers the transaction's signature; wrapped SOL is wrapped anew. */
export const issue = (
  ledger: Ledger,
  owner: PublicKey,
  { amountRaw, token }: { readonly token: SplToken; readonly amountRaw: bigint }
): string => {
  const account = tokenAccount(token, owner)
  const open = createAssociatedTokenAccountIdempotentInstruction(issuer, account, owner, token.mint, token.program)
  if (!token.mint.equals(NATIVE_MINT)) {
    const mint = createMintToCheckedInstruction(
      token.mint,
      account,
      issuer,
      amountRaw,
      token.decimals,
      [],
      token.program
    )
    return ledger.operate(issuer, [open, mint])
  }
  ledger.airdrop(issuer, amountRaw)
  const pay = SystemProgram.transfer({ fromPubkey: issuer, toPubkey: account, lamports: amountRaw })
  return ledger.operate(issuer, [open, pay, createSyncNativeInstruction(account, token.program)])
}

/** Gives lamports to an account and answers the transaction's signature. */
export const issueLamports = (ledger: Ledger, owner: PublicKey, lamports: bigint): string => {
  ledger.airdrop(issuer, lamports)
  return ledger.operate(issuer, [SystemProgram.transfer({ fromPubkey: issuer, toPubkey: owner, lamports })])
}

/** Halts all transfers of a share's token, as its issuer may. */
export const pause = (ledger: Ledger, { mint, program }: SplToken): string =>
  ledger.operate(issuer, [createPauseInstruction(mint, issuer, [], program)])

export const resume = (ledger: Ledger, { mint, program }: SplToken): string =>
  ledger.operate(issuer, [createResumeInstruction(mint, issuer, [], program)])

/** Gives a share's token another multiplier from a second of the chain's time on. */
export const rescale = (
  ledger: Ledger,
  { mint, program }: SplToken,
  { from, multiplier }: { readonly multiplier: number; readonly from: bigint }
): string =>
  ledger.operate(issuer, [createUpdateMultiplierDataInstruction(mint, issuer, multiplier, from, [], program)])
