/**
 * The liquidity that only LI.FI's routes reach (sandbox/contracts/RoutePools.sol). It takes less of each swap than the
 * venue and is shallower, so a route pays more for up to about ten thousand dollars and less beyond.
 */
import { Effect } from "effect"
import { type Address, encodeFunctionData, parseAbi } from "viem"
import type { ChainClient } from "#sandbox/chain/Anvil.ts"
import type { Token } from "#sandbox/assets/catalog.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

export const routePoolsAbi = parseAbi([
  "struct Reserves { uint256 token; uint256 unit; }",
  "function set(address[] tokens, Reserves[] values)",
  "function reserves(address token) view returns (uint256 token_, uint256 unit)",
  "function quote(address sell, address buy, uint256 amount) view returns (uint256 bought)",
  "function swap(address sell, address buy, uint256 amount, address recipient) returns (uint256 bought)"
])

/** What each pool is worth on either side, in US dollars (wad). */
const depthUsd = 8_000_000n * 10n ** 18n

/** What of a chain its routes need. */
interface RoutedChain {
  readonly chainId: number
  readonly client: ChainClient
  readonly contracts: { readonly routePools: Address }
}

/** Gives each token a full pool at its price (US dollars, wad). */
export const setRoutePools = (
  { client, contracts }: Pick<RoutedChain, "client" | "contracts">,
  tokens: ReadonlyArray<Token>,
  priceOf: (token: Token) => bigint
) =>
  operate(client, {
    what: "set the pools of routes",
    to: contracts.routePools,
    data: encodeFunctionData({
      abi: routePoolsAbi,
      functionName: "set",
      args: [
        tokens.map(({ address }) => address),
        tokens.map((token) => ({ token: (depthUsd * 10n ** BigInt(token.decimals)) / priceOf(token), unit: depthUsd }))
      ]
    }),
    gas: 5_000_000n
  })

interface RouteSale {
  readonly sell: Token
  readonly buy: Token
  readonly amount: bigint
}

/** What the pools pay now; zero where they do not trade. */
export const quoteRoutePools = (chain: RoutedChain, { amount, buy, sell }: RouteSale) =>
  Effect.tryPromise({
    try: () =>
      chain.client.readContract({
        address: chain.contracts.routePools,
        abi: routePoolsAbi,
        functionName: "quote",
        args: [sell.address, buy.address, amount]
      }),
    catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} does not quote its routes`, cause })
  })
