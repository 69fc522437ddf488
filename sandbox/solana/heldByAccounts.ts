/** Balances of a transaction's accounts, as nodes show them from before and after the transaction. */
import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token"
import { isTokenAccount, keyAt, type LedgerAccount } from "#sandbox/solana/LedgerAccount.ts"

interface HeldTokens {
  /** Index of the account among the transaction's. */
  readonly place: number
  readonly mint: string
  readonly owner: string
  readonly raw: bigint
}

export interface HeldByAccounts {
  /** The accounts in base58, in the transaction's order. */
  readonly keys: ReadonlyArray<string>
  readonly lamports: ReadonlyArray<bigint>
  /** Tokens of token accounts. */
  readonly tokens: ReadonlyArray<HeldTokens>
}

const programs: ReadonlySet<string> = new Set([TOKEN_PROGRAM_ID.toBase58(), TOKEN_2022_PROGRAM_ID.toBase58()])

export const heldByAccounts = (
  keys: ReadonlyArray<string>,
  accountOf: (key: string) => LedgerAccount | undefined
): HeldByAccounts => {
  const accounts = keys.map(accountOf)
  return {
    keys,
    lamports: accounts.map((account) => account?.lamports ?? 0n),
    tokens: accounts.flatMap((account, place) =>
      account !== undefined && programs.has(account.owner) && isTokenAccount(account.data)
        ? [
            {
              place,
              mint: keyAt(account.data, 0).toBase58(),
              owner: keyAt(account.data, 32).toBase58(),
              raw: Buffer.from(account.data).readBigUInt64LE(64)
            }
          ]
        : []
    )
  }
}
