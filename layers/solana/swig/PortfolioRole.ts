/** A portfolio's role in its owner's wallet, from which its addresses follow. */
import { Option, Schema } from "effect"
import { type Hex, hexToBytes } from "viem"
import type { Grant } from "#domain/account/Grant.ts"
import { subAccount, walletConfig } from "#layers/solana/swig/addresses.ts"

export const PortfolioRole = Schema.Struct({
  walletId: Schema.Uint8ArrayFromHex,
  /** The role of this portfolio's agent: `walletRoleId`. */
  roleId: Schema.Int
})
export type PortfolioRole = typeof PortfolioRole.Type

/** The role that a grant names on Solana; none where it is not about Solana. */
export const roleIn = ({ authorization }: Grant): Option.Option<PortfolioRole> => {
  const policy = authorization.chains.map((chain) => chain.policy).find((each) => each._tag === "Solana")
  return Option.map(Option.fromUndefinedOr(policy), ({ roleId, walletId }) => ({
    walletId: hexToBytes(walletId as Hex),
    roleId
  }))
}

/** The addresses of a portfolio's sub-account: the wallet's, and the one that the owner funds. */
export const addressesOf = ({ roleId, walletId }: PortfolioRole) => ({
  wallet: walletConfig(walletId).address,
  deposit: subAccount(walletId, roleId).address
})
