/**
 * SOL that an account holds as lamports. It counts as the wrapped token, so that there is one SOL to show, to value, to
 * trade and to withdraw; a transaction that needs more of the token than there is wraps the difference first.
 */
import { createSyncNativeInstruction, NATIVE_MINT, TOKEN_PROGRAM_ID } from "@solana/spl-token"
import { type PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import type { Step } from "#layers/solana/swig/Plan.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"

export const isSol = (mint: PublicKey): boolean => mint.equals(NATIVE_MINT)

/** Where wrapped SOL of an account is. */
export const wrappedAccount = (account: PublicKey): PublicKey =>
  associatedAccount(account, NATIVE_MINT, TOKEN_PROGRAM_ID)

export interface Wrapping {
  /** Steps before the account acts otherwise. The agent pays the rent of the token account. */
  readonly steps: ReadonlyArray<Step>
  /** First of what the account does then. */
  readonly inner: ReadonlyArray<TransactionInstruction>
}

/**
 * Turns lamports of a sub-account into the token; nothing where none are needed. The transfer is a step of its own: the
 * package of the Swig program gives more accounts to whatever is packed behind one.
 */
export const wrap = (place: PortfolioRole, lamports: bigint): Wrapping => {
  if (lamports <= 0n) return { steps: [], inner: [] }
  const { deposit } = addressesOf(place)
  const toPubkey = wrappedAccount(deposit)
  const transfer = SystemProgram.transfer({ fromPubkey: deposit, toPubkey, lamports })
  return {
    steps: [
      { _tag: "MakeTokenAccount", owner: deposit, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM_ID },
      { _tag: "ActForSubAccount", id: place.walletId, roleId: place.roleId, inner: [transfer] }
    ],
    inner: [createSyncNativeInstruction(toPubkey)]
  }
}
