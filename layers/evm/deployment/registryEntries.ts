/**
 * What a chain's file means to the guard's registry: for each entry the call that makes it, in words too, and how the
 * registry shows that it is there. Another edition of the guard changes this file alone.
 */
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  isAddress,
  isAddressEqual,
  keccak256,
  pad,
  parseUnits,
  zeroAddress
} from "viem"
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

/** Enumerations of contracts/GuardRegistry.sol, by their numbers. */
const venueKinds = { "uniswap-v2": 1, calldata: 2 } as const
const protocols = { "cctp-v2": 1, across: 2 } as const
const listings = { none: 0, traded: 1, payout: 2 } as const

const inFeed = ({ address, description, maxAgeSeconds }: FileFeed) =>
  `the feed ${description} (${address}), at most ${maxAgeSeconds} s old`

interface ShownFeed {
  readonly feed: Address
  readonly maxAge: number
}

const isFeed = (shown: ShownFeed, { address, maxAgeSeconds }: FileFeed) =>
  isAddressEqual(shown.feed, address) && shown.maxAge === maxAgeSeconds

/** `GuardRegistry.Token`. */
interface ShownToken extends ShownFeed {
  readonly maxStepBps: number
  readonly bandBps: number
  readonly decimals: number
  readonly isComposed: boolean
  readonly listing: number
}

/** What of a token both kinds of prices have. */
interface Listed {
  readonly token: FileToken
  readonly isPayout: boolean
}

const isListedAs = (shown: ShownToken, { isPayout, token }: Listed) =>
  shown.listing === (isPayout ? listings.payout : listings.traded) &&
  shown.bandBps === token.bandBps &&
  shown.decimals === token.decimals

const wordsOf = ({ isPayout, token }: Listed, prices: string) =>
  `list ${token.symbol} (${token.address}) by ${prices}, with a band of ${token.bandBps} bps` +
  (isPayout ? "; liquidating withdrawals may be paid in it" : "")

const byFeed = (listed: Listed, feed: FileFeed): RegistryEntry => {
  const { isPayout, token } = listed
  const { secondFeed: second } = token
  return {
    words: wordsOf(listed, second === undefined ? inFeed(feed) : `${inFeed(feed)} times ${inFeed(second)}`),
    functionName: "registerToken",
    args: [
      {
        token: token.address,
        feed: feed.address,
        maxAge: feed.maxAgeSeconds,
        bandBps: token.bandBps,
        second: second?.address ?? zeroAddress,
        secondMaxAge: second?.maxAgeSeconds ?? 0,
        maxStepBps: 0,
        firstPrice: 0n,
        isPayout
      }
    ],
    reads: [
      {
        functionName: "tokens",
        args: [token.address],
        isAsListed: (answer) => {
          const shown = answer as ShownToken
          return isListedAs(shown, listed) && isFeed(shown, feed) && shown.isComposed === (second !== undefined)
        }
      },
      ...(second === undefined
        ? []
        : [
            {
              functionName: "secondFeeds",
              args: [token.address],
              isAsListed: (answer: unknown) => isFeed(answer as ShownFeed, second)
            }
          ])
    ]
  }
}

const byAttestor = (listed: Listed, attested: NonNullable<FileToken["attested"]>): RegistryEntry => {
  const { isPayout, token } = listed
  const { firstPriceUsd, maxAgeSeconds, maxStepBps } = attested
  return {
    words: wordsOf(
      listed,
      `the attestor's signed price, at most ${maxAgeSeconds} s old and ${maxStepBps} bps from the day before, first ${firstPriceUsd} dollars`
    ),
    functionName: "registerToken",
    args: [
      {
        token: token.address,
        feed: zeroAddress,
        maxAge: maxAgeSeconds,
        bandBps: token.bandBps,
        second: zeroAddress,
        secondMaxAge: 0,
        maxStepBps,
        firstPrice: parseUnits(firstPriceUsd, 18),
        isPayout
      }
    ],
    reads: [
      {
        functionName: "tokens",
        args: [token.address],
        isAsListed: (answer) => {
          const shown = answer as ShownToken
          return (
            isListedAs(shown, listed) &&
            shown.feed === zeroAddress &&
            shown.maxAge === maxAgeSeconds &&
            shown.maxStepBps === maxStepBps
          )
        }
      }
    ]
  }
}

const tokenEntry = (listed: Listed) => {
  const { attested, feed } = listed.token
  return feed === null ? byAttestor(listed, attested!) : byFeed(listed, feed)
}

/** `GuardRegistry.Venue`. */
interface ShownVenue {
  readonly spender: Address
  readonly kind: number
  readonly maxLossBps: number
  readonly maxUsd: bigint
}

const venueEntry = (venue: ChainFile["venues"][number]): RegistryEntry => {
  const { kind, maxLossBps = 0, maxUsd = 0, name, target } = venue
  const spender = venue.spender ?? zeroAddress
  const taker = spender === target ? "" : spender === zeroAddress ? ", paid before" : `, with ${spender} as its spender`
  const loss = maxLossBps === 0 ? "" : `, losing at most ${maxLossBps} bps a trade`
  const size = maxUsd === 0 ? "" : `, selling at most ${maxUsd} dollars a trade`
  return {
    words: `let the guard's runner call ${name} (${target}) as ${kind}${taker}${loss}${size}`,
    functionName: "registerVenue",
    args: [{ venue: target, spender, kind: venueKinds[kind], maxLossBps, maxUsd: BigInt(maxUsd) }],
    reads: [
      {
        functionName: "venues",
        args: [target],
        isAsListed: (answer) => {
          const shown = answer as ShownVenue
          return (
            isAddressEqual(shown.spender, spender) &&
            shown.kind === venueKinds[kind] &&
            shown.maxLossBps === maxLossBps &&
            shown.maxUsd === BigInt(maxUsd)
          )
        }
      }
    ]
  }
}

/** A route of a token over a bridge, as the registry is keyed. */
export interface LaneKey {
  readonly bridge: Address
  readonly token: Address
  readonly chainId: bigint
  /** 32 bytes. */
  readonly remoteToken: Hex
}

/** The registry's key of a lane, as `laneOf` in contracts/GuardRegistry.sol. */
export const laneKey = ({ bridge, chainId, remoteToken, token }: LaneKey) =>
  keccak256(
    encodeAbiParameters(
      [{ type: "address" }, { type: "address" }, { type: "uint256" }, { type: "bytes32" }],
      [bridge, token, chainId, remoteToken]
    )
  )

interface ListedLane extends LaneKey {
  readonly words: string
  readonly protocol: keyof typeof protocols
  readonly decimals: number
  readonly isEvm: boolean
  readonly destination: bigint
  readonly fillTime: number
}

/** `GuardRegistry.Lane`. */
interface ShownLane extends Pick<ListedLane, "decimals" | "isEvm" | "destination" | "fillTime"> {
  readonly protocol: number
}

const laneEntry = (lane: ListedLane): RegistryEntry => {
  const { bridge, chainId, decimals, destination, fillTime, isEvm, remoteToken, token, words } = lane
  const protocol = protocols[lane.protocol]
  return {
    words,
    functionName: "registerBridge",
    args: [{ bridge, protocol, token, chainId, remoteToken, remoteDecimals: decimals, isEvm, destination, fillTime }],
    reads: [
      {
        functionName: "lanes",
        args: [laneKey(lane)],
        isAsListed: (answer) => {
          const shown = answer as ShownLane
          return (
            shown.protocol === protocol &&
            shown.decimals === decimals &&
            shown.isEvm === isEvm &&
            shown.destination === destination &&
            shown.fillTime === fillTime
          )
        }
      }
    ]
  }
}

/** The lanes of a file. */
export const lanesOf = ({ bridges, lanes, tokens }: ChainFile): ReadonlyArray<ListedLane> =>
  lanes.map(({ bridge: name, chainId, decimals, destination, fillTimeSeconds = 0, remoteToken, symbol }) => {
    const { address, protocol } = bridges.find((bridge) => bridge.name === name)!
    return {
      words: `let ${symbol} leave for chain ${chainId} as ${remoteToken} by ${name} (${address}), as its destination ${destination}`,
      bridge: address,
      protocol,
      token: tokens.find((token) => token.symbol === symbol)!.address,
      chainId: BigInt(chainId),
      remoteToken: pad(remoteToken),
      decimals,
      isEvm: isAddress(remoteToken),
      destination: BigInt(destination),
      fillTime: fillTimeSeconds
    }
  })

/** Every entry of a chain's registry, in the order in which they are made. */
export const registryEntries = (file: ChainFile): ReadonlyArray<RegistryEntry> => {
  const sequencer = file.sequencer?.address ?? zeroAddress
  return [
    ...file.tokens.map((token) => tokenEntry({ token, isPayout: file.payoutTokens.includes(token.symbol) })),
    ...file.venues.map(venueEntry),
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
                isAsListed: (answer: unknown) =>
                  isAddressEqual((answer as { readonly sequencer: Address }).sequencer, sequencer)
              }
            ]
          }
        ])
  ]
}
