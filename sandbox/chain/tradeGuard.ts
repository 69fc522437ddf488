/** The guard of a chain of the world: filled with everything that the chain has, then sealed. */
import { Effect } from "effect"
import { type Abi, type Address, encodeFunctionData, type Hex, pad, zeroAddress } from "viem"
import type { ChainClient } from "#sandbox/chain/Anvil.ts"
import { catalog, type CatalogChain, type Token } from "#sandbox/assets/catalog.ts"
import { operator } from "#sandbox/chain/canonical.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { feedOf, sequencerOf } from "#sandbox/chain/priceFeeds.ts"

const venueKind = { v2Router: 1, calldata: 2 } as const
const across = 2

/** Seconds that relayers have, as Across's own interface sets them. */
const fillTime = 4 * 3_600

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
      call("registerToken", {
        token: token.address,
        bandBps: bandOf(token),
        second: zeroAddress,
        secondMaxAge: 0,
        // Liquidating withdrawals are paid in USDC.
        isPayout: token === chain.usdc,
        ...(token.isAttested
          ? { feed: zeroAddress, maxAge: attestedAge, maxStepBps: attestedStepBps, firstPrice: priceOf(token) }
          : { feed: feedOf(token), maxAge: feedAge, maxStepBps: 0, firstPrice: 0n })
      })
    ),
    call("setKeys", operator, operator, attestor),
    ...(
      [
        [at.router, venueKind.v2Router],
        [at.diamond, venueKind.calldata],
        [at.issuerManager, venueKind.calldata]
      ] as const
    ).map(([venue, kind]) => call("registerVenue", { venue, spender: venue, kind, maxLossBps: 0, maxUsd: 0n })),
    ...catalog
      .filter(({ chainId }) => chainId !== chain.chainId)
      .map(({ chainId, usdc }) =>
        call("registerBridge", {
          bridge: at.bridge,
          protocol: across,
          token: chain.usdc.address,
          chainId: BigInt(chainId),
          remoteToken: pad(usdc.address),
          remoteDecimals: usdc.decimals,
          isEvm: true,
          destination: BigInt(chainId),
          fillTime
        })
      ),
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
