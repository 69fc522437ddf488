/** Token accounts of both token programs, as a node finds them. */
import type { PublicKey } from "@solana/web3.js"
import { tokenPrograms } from "#layers/solana/token/programs.ts"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import { isTokenAccount, keyAt, type LedgerAccount } from "#sandbox/solana/LedgerAccount.ts"

const decimalsAt = 44

/** All token accounts of an owner, of one program or one mint when that is given. */
export const tokenAccountsOf = (
  ledger: Ledger,
  owner: PublicKey,
  { mint, program }: { readonly mint: PublicKey | undefined; readonly program: PublicKey | undefined }
): ReadonlyArray<LedgerAccount> =>
  ledger
    .tokenAccountsOf(owner)
    .filter(
      (account) =>
        (program === undefined ? tokenPrograms : [program]).some((one) => one.toBase58() === account.owner) &&
        (mint === undefined || keyAt(account.data, 0).equals(mint))
    )

/** The balance of a token account; undefined when there is no such account. */
export const tokenBalanceOf = (ledger: Ledger, key: PublicKey) => {
  const account = ledger.account(key)
  if (account === undefined || !isTokenAccount(account.data)) return undefined
  const decimals = ledger.account(keyAt(account.data, 0))?.data[decimalsAt] ?? 0
  const amount = Buffer.from(account.data).readBigUInt64LE(64)
  const digits = amount.toString().padStart(decimals + 1, "0")
  const whole = digits.slice(0, digits.length - decimals)
  const uiAmountString = `${whole}.${digits.slice(digits.length - decimals)}`.replace(/\.?0*$/, "")
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}
