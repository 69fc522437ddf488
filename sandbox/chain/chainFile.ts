/** What a chain of the world has before Ballast is deployed on it, in the form of `deploy/chains/<id>.json`. */
import { Effect } from "effect"
import { type Address, formatUnits, type Hex, keccak256 } from "viem"
import { ChainId } from "#domain/values/Caip.ts"
import type { ChainFile } from "#layers/evm/deployment/ChainFile.ts"
import type { ChainClient } from "#sandbox/chain/Anvil.ts"
import { catalog, type CatalogChain, type Token } from "#sandbox/assets/catalog.ts"
import { canonical } from "#sandbox/chain/canonical.ts"
import type { ChainContracts } from "#sandbox/chain/contractAddresses.ts"
import { feedOf, sequencerOf } from "#sandbox/chain/priceFeeds.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** Longest silence of a feed, in seconds: the real heartbeats reach a day. */
const feedAge = 86_400

/** Longest age of an attested price, in seconds, and how far it may be from the one of the day before. */
const attestedAge = 300
const attestedStepBps = 500

/** How far markets may be from prices, in basis points: the deviation at which real feeds are written anew. */
const bandOf = ({ tags }: Token) => (tags.includes("stablecoin") ? 25 : 50)

/** Seconds that relayers have, as Across's own interface sets them. */
const fillTimeSeconds = 14_400

const bridge = "the stand-in of Across's SpokePool"

const source = "placed by the sandbox"

const feed = (address: Address) => ({ address, description: "sandbox", decimals: 8, maxAgeSeconds: feedAge, source })

const tokenRow = (token: Token, priceOf: (token: Token) => bigint): ChainFile["tokens"][number] => {
  const { address, decimals, isAttested, symbol } = token
  const row = { symbol, address, decimals, bandBps: bandOf(token), source }
  if (!isAttested) return { ...row, feed: feed(feedOf(token)) }
  const firstPriceUsd = formatUnits(priceOf(token), 18)
  return { ...row, feed: null, attested: { maxAgeSeconds: attestedAge, maxStepBps: attestedStepBps, firstPriceUsd } }
}

/** Contracts of others that every chain has, by the names of `canonical`. */
const others = {
  entryPoint: "EntryPoint 0.7",
  kernel: "Kernel 0.3.1",
  kernelFactory: "Kernel's factory",
  metaFactory: "Kernel's meta factory",
  ownerValidator: "the owner validator",
  agentSigner: "the agent's signer module",
  callPolicy: "the call policy module",
  multicall3: "Multicall3"
} as const satisfies Partial<Record<keyof typeof canonical, string>>

interface FurnishedChain {
  readonly client: ChainClient
  readonly chain: CatalogChain
  readonly at: ChainContracts
  readonly priceOf: (token: Token) => bigint
}

/** Describes a chain as it is: the hashes are those of the code that was placed. */
export const chainFile = Effect.fnUntraced(function* ({ at, chain, client, priceOf }: FurnishedChain) {
  const hashOf = async (address: Address): Promise<readonly [Address, Hex | null]> => {
    const code = await client.getCode({ address })
    return [address, code === undefined ? null : keccak256(code)]
  }
  const named = Object.entries(others).map(([key, name]) => ({ name, address: canonical[key as keyof typeof others] }))
  const hashes = yield* Effect.tryPromise({
    try: async () =>
      new Map(
        await Promise.all(
          [...named.map(({ address }) => address), at.router, at.diamond, at.issuerManager, at.bridge].map(hashOf)
        )
      ),
    catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} did not show its contracts`, cause })
  })
  const coded = (address: Address) => ({ codeHash: hashes.get(address) ?? null, source })
  const venue = (name: string, kind: "uniswap-v2" | "calldata", target: Address) => ({
    name,
    kind,
    target,
    spender: target,
    ...coded(target)
  })
  return {
    about: "A chain of the sandbox, as it was made.",
    chainId: ChainId.make(chain.chainId),
    name: chain.name,
    contracts: named.map((contract) => ({ ...contract, ...coded(contract.address) })),
    sequencer: feed(sequencerOf(chain.chainId)),
    tokens: chain.tokens.map((token) => tokenRow(token, priceOf)),
    venues: [
      venue("the Uniswap v2 router", "uniswap-v2", at.router),
      venue("the stand-in of LI.FI's diamond", "calldata", at.diamond),
      venue("the stand-in of an issuer's contract", "calldata", at.issuerManager)
    ],
    bridges: [{ name: bridge, protocol: "across" as const, address: at.bridge, ...coded(at.bridge) }],
    lanes: catalog
      .filter(({ chainId }) => chainId !== chain.chainId)
      .map(({ chainId, usdc }) => ({
        symbol: chain.usdc.symbol,
        bridge,
        chainId: ChainId.make(chainId),
        remoteToken: usdc.address,
        decimals: usdc.decimals,
        destination: chainId,
        fillTimeSeconds,
        source
      })),
    payoutTokens: [chain.usdc.symbol],
    routedSwap: { target: at.diamond, router: at.router }
  } satisfies ChainFile
})
