/** A small catalogue for rule tests: real ids, so that the identifiers' own rules hold. */
import { Schema } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import { AssetId, chainIdOf } from "#domain/values/Caip.ts"

const asset = (id: string, symbol: string, decimals: number): Asset => {
  const assetId = Schema.decodeUnknownSync(AssetId)(id)
  return { assetId, chainId: chainIdOf(assetId), symbol, name: symbol, decimals, isBlocked: false }
}

export const baseUsdc = asset("eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USDC", 6)
export const baseWeth = asset("eip155:8453/erc20:0x4200000000000000000000000000000000000006", "WETH", 18)
export const baseBtc = asset("eip155:8453/erc20:0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", "cbBTC", 8)
export const arbUsdc = asset("eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "USDC", 6)
export const arbWeth = asset("eip155:42161/erc20:0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", "WETH", 18)

export const catalogue = new Map([baseUsdc, baseWeth, baseBtc, arbUsdc, arbWeth].map((one) => [one.assetId, one]))
