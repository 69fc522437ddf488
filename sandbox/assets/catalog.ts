/**
 * The tokens of the world's chains.
 *
 * They live at their main network addresses, so that a CAIP-19 id means the same token here and in production.
 * Prices are where each world starts; supplies only shape the market capitalisation that the price feed reports.
 */
import type { Address } from "viem"
import * as Caip from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"

/** One token on one chain. */
export interface Token {
  readonly assetId: Caip.AssetId
  readonly chainId: number
  readonly address: Address
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** CoinGecko's coin id. */
  readonly coinId: string
  /** US dollars, wad. */
  readonly initialPriceUsd: bigint
  /** Whole tokens in circulation, for the feed's market capitalisation. */
  readonly supply: bigint
  readonly tags: ReadonlyArray<string>
  /** The token has no feed on its chain: the guard takes the attestor's signed price. */
  readonly isAttested: boolean
}

/** One EVM chain of the world. */
export interface CatalogChain {
  readonly chainId: number
  readonly name: string
  /** CoinGecko's asset platform. */
  readonly platformId: string
  /** Block time of the real chain, about. */
  readonly blockTimeMillis: number
  readonly usdc: Token
  readonly weth: Token
  readonly tokens: ReadonlyArray<Token>
}

type Row = readonly [
  symbol: string,
  name: string,
  decimals: number,
  address: Address,
  coinId: string,
  price: string,
  supply: bigint,
  tag: string,
  source?: "attested"
]

const chain = (
  { blockTimeMillis, chainId, name, platformId }: Omit<CatalogChain, "tokens" | "usdc" | "weth">,
  rows: ReadonlyArray<Row>
): CatalogChain => {
  const tokens = rows.map(([symbol, tokenName, decimals, address, coinId, price, supply, tag, source]): Token => ({
    assetId: Caip.erc20(chainId as Caip.ChainId, address as string as Caip.EvmAddress),
    chainId,
    address,
    symbol,
    name: tokenName,
    decimals,
    coinId,
    initialPriceUsd: Decimal.parse(price)!,
    supply,
    tags: [tag],
    isAttested: source === "attested"
  }))
  const bySymbol = (symbol: string) => tokens.find((token) => token.symbol === symbol)!
  return { chainId, name, platformId, blockTimeMillis, tokens, usdc: bySymbol("USDC"), weth: bySymbol("WETH") }
}

/** The world's EVM chains, Base and Arbitrum One. */
export const catalog: ReadonlyArray<CatalogChain> = [
  chain({ chainId: 8453, name: "Base", platformId: "base", blockTimeMillis: 2_000 }, [
    [
      "USDC",
      "USD Coin",
      6,
      "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      "usd-coin",
      "1",
      60_000_000_000n,
      "stablecoin"
    ],
    [
      "WETH",
      "Wrapped Ether",
      18,
      "0x4200000000000000000000000000000000000006",
      "weth",
      "2500",
      120_000_000n,
      "ethereum"
    ],
    [
      "cbBTC",
      "Coinbase Wrapped BTC",
      8,
      "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf",
      "coinbase-wrapped-btc",
      "60000",
      45_000n,
      "bitcoin"
    ],
    ["EURC", "EURC", 6, "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42", "euro-coin", "1.08", 200_000_000n, "stablecoin"],
    [
      "AERO",
      "Aerodrome Finance",
      18,
      "0x940181a94A35A4569E4529A3CDfB74e38FD98631",
      "aerodrome-finance",
      "1.1",
      880_000_000n,
      "defi"
    ],
    [
      "SEAM",
      "Seamless",
      18,
      "0x1C7a460413dD4e964f96D8dFC56E7223cE88CD85",
      "seamless-protocol",
      "1.5",
      40_000_000n,
      "defi",
      "attested"
    ]
  ]),
  chain({ chainId: 42_161, name: "Arbitrum One", platformId: "arbitrum-one", blockTimeMillis: 250 }, [
    [
      "USDC",
      "USD Coin",
      6,
      "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
      "usd-coin",
      "1",
      60_000_000_000n,
      "stablecoin"
    ],
    [
      "WETH",
      "Wrapped Ether",
      18,
      "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
      "weth",
      "2500",
      120_000_000n,
      "ethereum"
    ],
    [
      "WBTC",
      "Wrapped BTC",
      8,
      "0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f",
      "wrapped-bitcoin",
      "60000",
      130_000n,
      "bitcoin"
    ],
    [
      "USDT",
      "Tether USD",
      6,
      "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9",
      "tether",
      "1",
      140_000_000_000n,
      "stablecoin"
    ],
    [
      "ARB",
      "Arbitrum",
      18,
      "0x912CE59144191C1204E64559FE8253a0e49E6548",
      "arbitrum",
      "0.8",
      4_000_000_000n,
      "governance"
    ],
    [
      "GRAIL",
      "Camelot Token",
      18,
      "0x3d9907F9a368ad0a51Be60f7Da3b97cf940982D8",
      "camelot-token",
      "400",
      20_000n,
      "defi",
      "attested"
    ]
  ])
]

/** The catalogue's row of a chain, if the world has that chain. */
export const catalogChain = (chainId: number): CatalogChain | undefined =>
  catalog.find((entry) => entry.chainId === chainId)
