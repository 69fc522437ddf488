import { getScaledUiAmountConfig, unpackMint } from "@solana/spl-token"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import type { SplToken } from "#sandbox/assets/splCatalog.ts"

/** Shown units of one raw unit now, by the token's mint: a newer multiplier counts from its second on. */
export const multiplierOf = (ledger: Ledger, { mint, program }: SplToken): number => {
  const account = ledger.account(mint)
  if (account === undefined) return 1
  const owner = { ...account, owner: program, data: Buffer.from(account.data), lamports: Number(account.lamports) }
  const config = getScaledUiAmountConfig(unpackMint(mint, owner, program))
  if (config === null) return 1
  return ledger.now >= config.newMultiplierEffectiveTimestamp ? config.newMultiplier : config.multiplier
}
