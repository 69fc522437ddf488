/**
 * The coins in which EVM chains take their fees: what they are called, and the token that each is when it is wrapped.
 * Sources: SLIP-44 (numbers of coins), the chains' documentation.
 */
import {
  type AssetId,
  type ChainId,
  chainIdOf,
  erc20,
  type EvmAddress,
  type HeldAssetId,
  isNative,
  type NativeAssetId,
  slip44
} from "#domain/values/Caip.ts"

export interface NativeCoin {
  readonly assetId: NativeAssetId
  readonly symbol: string
  /** The ERC-20 token that holds one coin for each of its own; the coin is valued at its price. */
  readonly wrapped: AssetId
}

/** Decimal places of the coin of every EVM chain. */
export const nativeDecimals = 18

const ether = { number: 60, symbol: "ETH" }

const coins: ReadonlyMap<number, { readonly number: number; readonly symbol: string; readonly wrapped: string }> =
  new Map([
    [1, { ...ether, wrapped: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2" }],
    [8453, { ...ether, wrapped: "0x4200000000000000000000000000000000000006" }],
    [42161, { ...ether, wrapped: "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1" }],
    [56, { number: 714, symbol: "BNB", wrapped: "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c" }],
    [4663, { ...ether, wrapped: "0x0Bd7D308f8E1639FAb988df18A8011f41EAcAD73" }]
  ])

/** The native coin of an EVM chain; undefined where it is not known, and on chains of other families. */
export const nativeCoinOn = (chainId: ChainId): NativeCoin | undefined => {
  const coin = coins.get(chainId)
  return coin === undefined
    ? undefined
    : {
        assetId: slip44(chainId, coin.number),
        symbol: coin.symbol,
        wrapped: erc20(chainId, coin.wrapped as EvmAddress)
      }
}

/** The asset whose price values what is held: of a token itself, of a native coin the token that wraps it. */
export const pricedAs = (id: HeldAssetId): AssetId | undefined =>
  isNative(id) ? nativeCoinOn(chainIdOf(id))?.wrapped : id
