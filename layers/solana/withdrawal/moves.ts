/** Instructions by which a sub-account gives an amount of one asset to somebody. */
import { createCloseAccountInstruction, createTransferCheckedInstruction } from "@solana/spl-token"
import { type PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js"
import type { Holding } from "#layers/solana/token/readHoldings.ts"

/** An amount out of the accounts of a mint, the fullest first; undefined where there is less. */
export const transfersOf = (
  { accounts, token }: Holding,
  amountRaw: bigint,
  { from, to }: { readonly from: PublicKey; readonly to: PublicKey }
): ReadonlyArray<TransactionInstruction> | undefined => {
  if (token === null) return undefined
  const transfers: Array<TransactionInstruction> = []
  let left = amountRaw
  for (const { amountRaw: held, isFrozen, key } of accounts) {
    if (left === 0n) break
    const part = held < left ? held : left
    if (isFrozen || part === 0n) continue
    transfers.push(createTransferCheckedInstruction(key, token.mint, to, from, part, token.decimals, [], token.program))
    left -= part
  }
  return left === 0n ? transfers : undefined
}

/**
 * SOL as recipients expect it: lamports. What is missing of them is unwrapped by closing accounts of the wrapped token,
 * whose rest and rent stay with the portfolio as lamports. Undefined where there is less.
 */
export const lamportsOf = (
  { accounts, lamports, token }: Holding,
  amount: bigint,
  { from, to }: { readonly from: PublicKey; readonly to: PublicKey }
): ReadonlyArray<TransactionInstruction> | undefined => {
  const closed: Array<TransactionInstruction> = []
  let available = lamports
  for (const { amountRaw, isFrozen, key } of accounts) {
    if (available >= amount) break
    if (isFrozen) continue
    closed.push(createCloseAccountInstruction(key, from, from, [], token?.program))
    available += amountRaw
  }
  if (available < amount) return undefined
  return [...closed, SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: amount })]
}
