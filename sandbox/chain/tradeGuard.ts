/** The guard of a chain of the world: filled with everything that the chain has, then sealed. */
import { Effect } from "effect"
import { type Abi, type Address, encodeFunctionData, type Hex, zeroAddress } from "viem"
import type { ChainClient } from "#sandbox/chain/Anvil.ts"
import { catalog, type CatalogChain, type Token } from "#sandbox/assets/catalog.ts"
import { canonical, operator } from "#sandbox/chain/canonical.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { feedOf, sequencerOf } from "#sandbox/chain/priceFeeds.ts"

const venueKind = { router: 1, route: 2, bridge: 3 } as const

/** Longest silence of a feed, in seconds: the real heartbeats reach a day. */
const feedAge = 86_400

/** Longest age of an attested price, in seconds, and how far it may be from the one of the day before. */
const attestedAge = 300
const attestedStepBps = 500

/** How far markets may be from prices, in basis points: the deviation at which real feeds are written anew. */
const bandOf = ({ tags }: Token) => (tags.includes("stablecoin") ? 25 : 50)

export interface GuardedContracts {
  readonly guard: Address
  readonly router: Address
  readonly diamond: Address
  readonly bridge: Address
  /** The contract by which an issuer trades. */
  readonly issuerManager: Address
}

/** What prices come from where there is no feed. */
export interface GuardedPrices {
  readonly attestor: Address
  readonly priceOf: (token: Token) => bigint
}

export interface UnfilledGuard {
  readonly abi: Abi
  readonly at: GuardedContracts
  readonly chain: CatalogChain
}

/** The calls by which the administrator fills a guard. */
const entries = (
  { abi, at, chain }: UnfilledGuard,
  { attestor, priceOf }: GuardedPrices
): ReadonlyArray<readonly [string, Hex]> => {
  const call = (functionName: string, ...args: ReadonlyArray<unknown>) =>
    [functionName, encodeFunctionData({ abi, functionName, args })] as const
  return [
    ...chain.tokens.map((token) =>
      token.isAttested
        ? call("registerAttested", token.address, attestedAge, bandOf(token), attestedStepBps, priceOf(token))
        : call("registerToken", token.address, feedOf(token), feedAge, bandOf(token), zeroAddress, 0)
    ),
    call("setKeys", operator, operator, attestor),
    call("registerVenue", at.router, venueKind.router),
    call("registerVenue", at.diamond, venueKind.route),
    call("registerVenue", at.issuerManager, venueKind.route),
    call("registerVenue", at.bridge, venueKind.bridge),
    ...catalog
      .filter(({ chainId }) => chainId !== chain.chainId)
      .map(({ chainId, usdc }) =>
        call("registerLane", chain.usdc.address, BigInt(chainId), usdc.address, usdc.decimals)
      ),
    // Liquidating withdrawals are paid in USDC: the lane to chain 0, by the withdrawal executor.
    call("registerLane", chain.usdc.address, 0n, canonical.withdrawalExecutor, chain.usdc.decimals),
    call("setSequencer", sequencerOf(chain.chainId)),
    call("seal")
  ]
}

export const fillGuard = Effect.fnUntraced(function* (
  client: ChainClient,
  guard: UnfilledGuard,
  prices: GuardedPrices
) {
  for (const [name, data] of entries(guard, prices)) {
    yield* operate(client, { what: `${name} of the guard`, to: guard.at.guard, data, gas: 1_000_000n })
  }
})
