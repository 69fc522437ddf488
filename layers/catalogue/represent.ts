/** How the lists of tokens are written: one function for each way in which tokens stand for a subject. */
import type { AssetRepresentation, UnitModel } from "#domain/asset/AssetRepresentation.ts"
import { type CaipAssetId, type ChainId, erc20, type EvmAddress, spl } from "#domain/Caip.ts"
import type { Coin } from "#layers/catalogue/assets/coins.ts"
import type { Commodity } from "#layers/catalogue/assets/commodities.ts"
import type { Equity } from "#layers/catalogue/assets/equities.ts"
import type { Fund } from "#layers/catalogue/assets/funds.ts"
import type { Stablecoin } from "#layers/catalogue/assets/stablecoins.ts"

/** Any subject of the catalogue by its symbol. Symbols are unique among shares, and among all others. */
export type Share = Equity | Fund
export type Currency = Coin | Stablecoin | Commodity

/** A token whose subject is still a symbol. */
export interface Token extends Omit<AssetRepresentation, "assetCanonicalId"> {
  readonly subject: { readonly share: Share } | { readonly currency: Currency }
}

type IdOf = (address: string) => CaipAssetId

/** The id of a token on an EVM chain. The address must be in its EIP-55 form; a test sees to it. */
export const onChain =
  (chainId: number): IdOf =>
  (address) =>
    erc20(chainId as ChainId, address as EvmAddress)

/** The id of a token on Solana. */
export const onSolana: IdOf = spl

interface Issue {
  readonly issuer: string
  readonly chain: IdOf
  readonly unitModel: UnitModel
  readonly decimals: number
  /** The symbol on the chain of the token for a ticker. */
  readonly symbolOf: (ticker: string) => string
}

/** The tokens of one issuer on one chain, by ticker. */
export const tokenized = (
  { chain, decimals, issuer, symbolOf, unitModel }: Issue,
  addresses: { readonly [Ticker in Share]?: string }
): ReadonlyArray<Token> =>
  Object.entries(addresses).map(([ticker, address]) => ({
    caipAssetId: chain(address),
    subject: { share: ticker as Share },
    issuer,
    unitModel,
    decimals,
    symbol: symbolOf(ticker)
  }))

/** Tokens without an issuer of shares: coins, their wrapped forms, stablecoins. */
export const coinsOn = (
  chain: IdOf,
  rows: ReadonlyArray<readonly [symbol: string, subject: Coin | Stablecoin, decimals: number, address: string]>
): ReadonlyArray<Token> =>
  rows.map(([symbol, currency, decimals, address]) => ({
    caipAssetId: chain(address),
    subject: { currency },
    issuer: null,
    unitModel: "plain",
    decimals,
    symbol
  }))

/** Claims of issuers on commodities. */
export const claimsOn = (
  chain: IdOf,
  rows: ReadonlyArray<readonly [issuer: string, symbol: string, subject: Commodity, decimals: number, address: string]>
): ReadonlyArray<Token> =>
  rows.map(([issuer, symbol, currency, decimals, address]) => ({
    caipAssetId: chain(address),
    subject: { currency },
    issuer,
    unitModel: "plain",
    decimals,
    symbol
  }))
