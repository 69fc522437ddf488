/**
 * What a chain's file means to the guard's registry: for each entry the call that makes it, in words too, and how the
 * registry shows that it is there. Another edition of the guard changes this file alone.
 */
import { type Address, encodeAbiParameters, isAddressEqual, keccak256, parseUnits, zeroAddress } from "viem"
import { withdrawalExecutor } from "#layers/evm/contracts.ts"
import type { ChainFile, FileFeed, FileToken } from "#layers/evm/deployment/ChainFile.ts"

/** A view of the guard, and what it must answer. */
export interface RegistryRead {
  readonly functionName: string
  readonly args: ReadonlyArray<unknown>
  readonly isAsListed: (answer: unknown) => boolean
}

export interface RegistryEntry {
  readonly words: string
  readonly functionName: string
  readonly args: ReadonlyArray<unknown>
  /** All of them answer so once the entry is there. */
  readonly reads: ReadonlyArray<RegistryRead>
}

/** `GuardRegistry.Venue` in contracts/GuardRegistry.sol. */
const venueKinds = { "uniswap-v2": 1, route: 2, bridge: 3 } as const

/** Stands for owners in the registry's lanes: payouts of liquidating withdrawals. */
const payoutChain = 0n

const inFeed = ({ address, description, maxAgeSeconds }: FileFeed) =>
  `the feed ${description} (${address}), at most ${maxAgeSeconds} s old`

const isFeed = (answer: unknown, feed: FileFeed, [at, age]: readonly [address: number, maxAge: number]) => {
  const values = answer as ReadonlyArray<unknown>
  return isAddressEqual(values[at] as Address, feed.address) && values[age] === feed.maxAgeSeconds
}

interface ShownToken {
  readonly feed: Address
  readonly maxAge: number
  readonly maxStepBps: number
  readonly bandBps: number
  readonly decimals: number
  readonly isComposed: boolean
  readonly isListed: boolean
}

const shownToken = (answer: unknown): ShownToken => {
  const [feed, maxAge, maxStepBps, bandBps, decimals, , , , isComposed, isListed] = answer as readonly [
    Address,
    number,
    number,
    number,
    number,
    number,
    number,
    boolean,
    boolean,
    boolean
  ]
  return { feed, maxAge, maxStepBps, bandBps, decimals, isComposed, isListed }
}

const byFeed = (token: FileToken, feed: FileFeed): RegistryEntry => {
  const { secondFeed: second } = token
  const prices = second === undefined ? inFeed(feed) : `${inFeed(feed)} times ${inFeed(second)}`
  const args = [token.address, feed.address, feed.maxAgeSeconds, token.bandBps]
  return {
    words: `list ${token.symbol} (${token.address}) by ${prices}, with a band of ${token.bandBps} bps`,
    functionName: "registerToken",
    args: [...args, second?.address ?? zeroAddress, second?.maxAgeSeconds ?? 0],
    reads: [
      {
        functionName: "tokens",
        args: [token.address],
        isAsListed: (answer) => {
          const shown = shownToken(answer)
          return (
            shown.isListed &&
            isFeed(answer, feed, [0, 1]) &&
            shown.bandBps === token.bandBps &&
            shown.decimals === token.decimals &&
            shown.isComposed === (second !== undefined)
          )
        }
      },
      ...(second === undefined
        ? []
        : [
            {
              functionName: "secondFeeds",
              args: [token.address],
              isAsListed: (answer: unknown) => isFeed(answer, second, [0, 1])
            }
          ])
    ]
  }
}

const byAttestor = (token: FileToken, attested: NonNullable<FileToken["attested"]>): RegistryEntry => {
  const { firstPriceUsd, maxAgeSeconds, maxStepBps } = attested
  return {
    words: `list ${token.symbol} (${token.address}) by the attestor's word, at most ${maxAgeSeconds} s old and ${maxStepBps} bps from the day before, first ${firstPriceUsd} dollars, with a band of ${token.bandBps} bps`,
    functionName: "registerAttested",
    args: [token.address, maxAgeSeconds, token.bandBps, maxStepBps, parseUnits(firstPriceUsd, 18)],
    reads: [
      {
        functionName: "tokens",
        args: [token.address],
        isAsListed: (answer) => {
          const shown = shownToken(answer)
          return (
            shown.isListed &&
            shown.feed === zeroAddress &&
            shown.maxAge === maxAgeSeconds &&
            shown.maxStepBps === maxStepBps &&
            shown.bandBps === token.bandBps &&
            shown.decimals === token.decimals
          )
        }
      }
    ]
  }
}

const tokenEntry = (token: FileToken) =>
  token.feed === null ? byAttestor(token, token.attested!) : byFeed(token, token.feed)

const venueEntry = (name: string, address: Address, kind: keyof typeof venueKinds): RegistryEntry => ({
  words: `let the guard's runner call ${name} (${address}) as a ${kind}`,
  functionName: "registerVenue",
  args: [address, venueKinds[kind]],
  reads: [{ functionName: "venues", args: [address], isAsListed: (answer) => answer === venueKinds[kind] }]
})

/** The registry's key of a lane, as `laneOf` in contracts/GuardRegistry.sol. */
export const laneKey = (token: Address, chainId: bigint, remoteToken: Address) =>
  keccak256(
    encodeAbiParameters([{ type: "address" }, { type: "uint256" }, { type: "address" }], [token, chainId, remoteToken])
  )

interface ListedLane {
  readonly words: string
  readonly token: Address
  readonly chainId: bigint
  readonly remoteToken: Address
  readonly decimals: number
}

const laneEntry = ({ chainId, decimals, remoteToken, token, words }: ListedLane): RegistryEntry => ({
  words,
  functionName: "registerLane",
  args: [token, chainId, remoteToken, decimals],
  reads: [
    {
      functionName: "lanes",
      args: [laneKey(token, chainId, remoteToken)],
      isAsListed: (answer) => answer === decimals + 1
    }
  ]
})

/** The lanes of a file: to other chains, and to owners. */
export const lanesOf = ({ lanes, payoutTokens, tokens }: ChainFile): ReadonlyArray<ListedLane> => {
  const bySymbol = (symbol: string) => tokens.find((token) => token.symbol === symbol)!
  return [
    ...lanes.map(({ chainId, decimals, remoteToken, symbol }) => ({
      words: `let ${symbol} leave for chain ${chainId} as ${remoteToken}`,
      token: bySymbol(symbol).address,
      chainId: BigInt(chainId),
      remoteToken,
      decimals
    })),
    ...payoutTokens.map((symbol) => ({
      words: `pay liquidating withdrawals in ${symbol}`,
      token: bySymbol(symbol).address,
      chainId: payoutChain,
      remoteToken: withdrawalExecutor,
      decimals: bySymbol(symbol).decimals
    }))
  ]
}

/** Venues and bridges that this edition of the guard can call. */
export const callableVenues = ({ bridges, venues }: ChainFile) => [
  ...venues
    .filter(({ spender, target }) => spender === target)
    .map(({ kind, name, target }) => ({ name, address: target, kind })),
  ...bridges
    .filter(({ protocol }) => protocol === "vault")
    .map(({ address, name }) => ({ name, address, kind: "bridge" as const }))
]

/** What of a file this edition of the guard has no call for, a sentence each. */
export const leftOut = ({ bridges, venues }: ChainFile): ReadonlyArray<string> => [
  ...venues
    .filter(({ spender, target }) => spender !== target)
    .map(
      ({ name }) => `${name} is left out: its spender is another contract, and this guard allows a venue itself alone`
    ),
  ...bridges
    .filter(({ protocol }) => protocol !== "vault")
    .map(({ name, protocol }) => `${name} is left out: this guard does not speak ${protocol}`)
]

/** Every entry of a chain's registry, in the order in which they are made. */
export const registryEntries = (file: ChainFile): ReadonlyArray<RegistryEntry> => {
  const sequencer = file.sequencer?.address ?? zeroAddress
  return [
    ...file.tokens.map(tokenEntry),
    ...callableVenues(file).map(({ address, kind, name }) => venueEntry(name, address, kind)),
    ...lanesOf(file).map(laneEntry),
    ...(file.sequencer === null
      ? []
      : [
          {
            words: `trade only while the sequencer's feed ${sequencer} says that it is up`,
            functionName: "setSequencer",
            args: [sequencer],
            reads: [
              {
                functionName: "state",
                args: [],
                isAsListed: (answer: unknown) => isAddressEqual((answer as readonly [Address])[0], sequencer)
              }
            ]
          }
        ])
  ]
}
