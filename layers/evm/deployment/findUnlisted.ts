/**
 * What a guard's registry has that its chain's file does not list. Entries cannot be counted on the chain, so every
 * event by which one was made is read, and what it names is asked for its present state.
 */
import { Effect, Result } from "effect"
import { type Address, type Hex, parseAbi, type PublicClient } from "viem"
import { multicall3 } from "#layers/evm/contracts.ts"
import type { ChainFile } from "#layers/evm/deployment/ChainFile.ts"
import { DeploymentRefused } from "#layers/evm/deployment/DeploymentRefused.ts"
import { ask } from "#layers/evm/deployment/DeploymentTarget.ts"
import { callBytes } from "#layers/evm/deployment/inspectSurroundings.ts"
import { laneKey, lanesOf } from "#layers/evm/deployment/registryEntries.ts"

const events = parseAbi([
  "event TokenRegistered(address indexed token, address feed, address secondFeed, uint256 maxAge, uint256 bandBps, uint256 maxStepBps, bool isPayout)",
  "event VenueRegistered(address indexed venue, address spender, uint8 kind, uint256 maxLossBps, uint256 maxUsd)",
  "event BridgeRegistered(address indexed bridge, uint8 protocol, address indexed token, uint256 indexed chainId, bytes32 remoteToken, uint256 remoteDecimals, bool isEvm, uint256 destination, uint256 fillTime)"
])
const views = parseAbi([
  "struct Token { address feed; uint24 maxAge; uint16 maxStepBps; uint8 bandBps; uint8 decimals; uint8 priceDecimals; uint8 phase; bool isBounded; bool isComposed; uint8 listing; }",
  "struct Venue { address spender; uint8 kind; uint16 maxLossBps; uint64 maxUsd; }",
  "struct Lane { uint8 protocol; uint8 decimals; bool isEvm; uint64 destination; uint32 fillTime; }",
  "function tokens(address token) view returns (Token)",
  "function venues(address venue) view returns (Venue)",
  "function lanes(bytes32 lane) view returns (Lane)"
])

/** Blocks of one search of logs: all of them where the endpoint takes that, else what most take. */
const narrowBlocks = 10_000n
/** Most searches. */
const maxSearches = 20_000
const searchConcurrency = 4

interface Searched {
  readonly client: Pick<PublicClient, "getLogs" | "getBlockNumber" | "getCode" | "multicall">
  readonly guard: Address
  /** A block before the guard was made. */
  readonly fromBlock: bigint
}

const logsBetween = ({ client, guard }: Searched, fromBlock: bigint, toBlock: bigint) =>
  ask(`for events of blocks ${fromBlock} to ${toBlock}`, () =>
    client.getLogs({ address: guard, events, fromBlock, toBlock, strict: true })
  )

const registrations = Effect.fnUntraced(function* (searched: Searched) {
  const { client, fromBlock, guard } = searched
  if (fromBlock > 0n) {
    const before = yield* ask("for the guard's code then", () =>
      client.getCode({ address: guard, blockNumber: fromBlock })
    )
    if (before !== undefined)
      return yield* new DeploymentRefused({
        reasons: [`--from-block ${fromBlock}: the guard was there already; name an earlier block`]
      })
  }
  const head = yield* ask("for its latest block", () => client.getBlockNumber())
  const whole = yield* Effect.result(logsBetween(searched, fromBlock, head))
  if (Result.isSuccess(whole)) return whole.success
  const count = Number((head - fromBlock) / narrowBlocks) + 1
  if (count > maxSearches)
    return yield* new DeploymentRefused({
      reasons: [
        `The endpoint searches no logs of ${head - fromBlock} blocks at once: name a block shortly before the guard was deployed by --from-block`
      ]
    })
  const parts = yield* Effect.forEach(
    Array.from({ length: count }, (_, index) => fromBlock + BigInt(index) * narrowBlocks),
    (first) => {
      const last = first + narrowBlocks - 1n
      return logsBetween(searched, first, last < head ? last : head)
    },
    { concurrency: searchConcurrency }
  )
  return parts.flat()
})

interface Registered {
  readonly words: string
  readonly functionName: "tokens" | "venues" | "lanes"
  readonly subject: Hex
}

/** Which number of an answer is zero where the entry was removed. */
const presence = { tokens: "listing", venues: "kind", lanes: "protocol" } as const

const isStill = (functionName: Registered["functionName"], answer: unknown) =>
  (answer as Readonly<Record<string, unknown>>)[presence[functionName]] !== 0

/** Sentences about what is registered and not listed; empty when the registry has what the file has and no more. */
export const findUnlisted = Effect.fn("findUnlisted")(function* (file: ChainFile, searched: Searched) {
  const listed = new Set<string>([
    ...file.tokens.map(({ address }) => address),
    ...file.venues.map(({ target }) => target),
    ...lanesOf(file).map(laneKey)
  ])
  const logs = yield* registrations(searched)
  const found = logs.map((log): Registered => {
    switch (log.eventName) {
      case "TokenRegistered":
        return { words: `the token ${log.args.token}`, functionName: "tokens", subject: log.args.token }
      case "VenueRegistered":
        return { words: `the venue ${log.args.venue}`, functionName: "venues", subject: log.args.venue }
      case "BridgeRegistered": {
        const { bridge, chainId, remoteToken, token } = log.args
        return {
          words: `the route of ${token} to ${remoteToken} on chain ${chainId} by ${bridge}`,
          functionName: "lanes",
          subject: laneKey({ bridge, token, chainId, remoteToken })
        }
      }
    }
  })
  const strange = [...new Map(found.map((one) => [one.subject, one])).values()].filter(
    ({ subject }) => !listed.has(subject)
  )
  const answers = yield* ask(
    "for what is registered",
    () =>
      searched.client.multicall({
        contracts: strange.map(({ functionName, subject }) => ({
          address: searched.guard,
          abi: views,
          functionName,
          args: [subject]
        })),
        multicallAddress: multicall3,
        batchSize: callBytes,
        allowFailure: false
      }) as Promise<ReadonlyArray<unknown>>
  )
  return strange
    .filter(({ functionName }, index) => isStill(functionName, answers[index]))
    .map(({ words }) => `the guard lists ${words}, which the file does not`)
})
