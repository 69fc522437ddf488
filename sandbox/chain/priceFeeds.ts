/** The chains' price feeds: stand-ins at the real ones' addresses where those are known, else at derived ones. */
import { Effect } from "effect"
import { type Address, encodeFunctionData, getAddress, keccak256, parseAbi, slice, toHex } from "viem"
import type { ChainClient } from "#sandbox/chain/Anvil.ts"
import type { CatalogChain, Token } from "#sandbox/assets/catalog.ts"
import type { OwnContract } from "#sandbox/chain/Contracts.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

const feedAbi = parseAbi([
  "function initialize(int256 answer)",
  "function set(int256 answer)",
  "function silence(uint256 since)"
])

const known: Readonly<Record<number, Readonly<Record<string, Address>>>> = {
  8453: {
    WETH: "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70",
    cbBTC: "0x07DA0E54543a844a80ABE69c8A12F22B3aA59f9D",
    USDC: "0x7e860098F58bBFC8648a4311b374B1D669a2bc6B"
  },
  42161: {
    WETH: "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612",
    WBTC: "0x6ce185860a4963106506C203335A2910413708e9",
    USDC: "0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3",
    USDT: "0x3f3f5dF88dC9F13eac63DF89EC16ef6e7E25DdE7"
  }
}

const sequencers: Readonly<Record<number, Address>> = {
  8453: "0xBCF85224fc0756B9Fa45aA7892530B47e10b6433",
  42161: "0xFdB631F5EE196F0ed6FAa767959853A9F217697D"
}

const derived = (name: string): Address => getAddress(slice(keccak256(toHex(`ballast sandbox feed ${name}`)), 12))

/** Address of the feed of a token in US dollars. */
export const feedOf = ({ chainId, symbol }: Token): Address =>
  known[chainId]?.[symbol] ?? derived(`${chainId} ${symbol}`)

/** The feed that says whether the rollup's sequencer is up. */
export const sequencerOf = (chainId: number): Address => sequencers[chainId] ?? derived(`${chainId} sequencer`)

/** A price in wad as feeds of 8 decimals say it. */
const answerOf = (priceUsd: bigint) => priceUsd / 10n ** 10n

interface FeedCall {
  readonly functionName: "initialize" | "set" | "silence"
  readonly value: bigint
}

const call = (client: ChainClient, to: Address, { functionName, value }: FeedCall) =>
  operate(client, {
    what: `${functionName} the feed ${to}`,
    to,
    data: encodeFunctionData({ abi: feedAbi, functionName, args: [value] }),
    gas: 200_000n
  })

/** Puts all feeds of a chain in place. */
export const installFeeds = Effect.fnUntraced(function* (
  client: ChainClient,
  { runtime }: OwnContract,
  { chain, priceOf }: { readonly chain: CatalogChain; readonly priceOf: (token: Token) => bigint }
) {
  const feeds = [
    [sequencerOf(chain.chainId), 0n] as const,
    ...chain.tokens
      .filter(({ isAttested }) => !isAttested)
      .map((token) => [feedOf(token), answerOf(priceOf(token))] as const)
  ]
  for (const [address, answer] of feeds) {
    yield* Effect.tryPromise({
      try: () => client.setCode({ address, bytecode: runtime }),
      catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} refused the feed ${address}`, cause })
    })
    yield* call(client, address, { functionName: "initialize", value: answer })
  }
})

/** Lets a token's feed say a price (US dollars, wad); nothing for a token that has none. */
export const setFeed = (client: ChainClient, token: Token, priceUsd: bigint) =>
  token.isAttested ? Effect.void : call(client, feedOf(token), { functionName: "set", value: answerOf(priceUsd) })

/** Lets a token's feed stay what it said at a UNIX second; zero wakes it. */
export const silenceFeed = (client: ChainClient, token: Token, since: bigint) =>
  call(client, feedOf(token), { functionName: "silence", value: since })
