/**
 * The tokens of the world's Solana chain, at their mints of the main network. A share's token counts its shares by a
 * multiplier, which dividends and splits move: what a person owns is raw units times the multiplier, and the price is
 * that of a share.
 */
import { NATIVE_MINT, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token"
import { PublicKey } from "@solana/web3.js"
import { spl, type SplAssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"

export interface SplToken {
  readonly assetId: SplAssetId
  readonly mint: PublicKey
  /** The token program that owns the mint, SPL Token or Token-2022. */
  readonly program: PublicKey
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** US dollars of one shown unit, wad. */
  readonly initialPriceUsd: bigint
  /** Shown units of one raw unit at the start; undefined where the mint has no multiplier. */
  readonly multiplier?: number
}

interface Row {
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly mint: string
  readonly price: string
  readonly multiplier?: number
}

const token = ({ decimals, mint, multiplier, name, price, symbol }: Row): SplToken => ({
  assetId: spl(mint),
  mint: new PublicKey(mint),
  program: multiplier === undefined ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID,
  symbol,
  name,
  decimals,
  initialPriceUsd: Decimal.parse(price)!,
  ...(multiplier === undefined ? {} : { multiplier })
})

export const usdc = token({
  symbol: "USDC",
  name: "USD Coin",
  decimals: 6,
  mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  price: "1"
})

/** All tokens; every other one has a pool with USDC. */
export const splCatalog: ReadonlyArray<SplToken> = [
  usdc,
  token({ symbol: "SOL", name: "Wrapped SOL", decimals: 9, mint: NATIVE_MINT.toBase58(), price: "150" }),
  token({
    symbol: "JUP",
    name: "Jupiter",
    decimals: 6,
    mint: "JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN",
    price: "0.5"
  }),
  token({
    symbol: "TSLAx",
    name: "Tesla xStock",
    decimals: 8,
    mint: "XsDoVfqeBukxuZHWhdvWHBhgEHjGNst4MLodqsJHzoB",
    price: "400",
    multiplier: 1
  }),
  token({
    symbol: "AAPLx",
    name: "Apple xStock",
    decimals: 8,
    mint: "XsbEhLAtcf6HdfpFZ5xEMdqW8nfAvcsP5bdudRLJzJp",
    price: "270",
    multiplier: 1.5
  })
]

/** The token of an asset or of a mint in base58. */
export const splTokenOf = (id: string): SplToken | undefined =>
  splCatalog.find(({ assetId, mint }) => assetId === id || mint.toBase58() === id)
