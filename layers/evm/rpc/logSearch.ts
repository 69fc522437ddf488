/**
 * Searches of logs over many blocks, in ranges that the endpoint takes. Nodes differ in how many blocks one request may
 * reach over, some take none at all, and few say so beforehand: a range that a node refuses is asked in smaller ones,
 * and what it takes is remembered for a while.
 */
import { Clock, Effect, Result } from "effect"
import { BaseError, HttpRequestError, type PublicClient, ResponseBodyTooLargeError } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { rpcErrorOf } from "#layers/evm/rpc/rpcFailure.ts"

/** Blocks in one request: within what most public nodes allow, and then what ever fewer of them do not. */
export const logWidths = [5_000n, 1_000n, 100n, 10n, 1n] as const

export interface BlockRange {
  readonly fromBlock: bigint
  readonly toBlock: bigint
}

/** What an endpoint takes, until it is tried again (monotonic nanoseconds); 0 blocks: it refuses logs. */
interface TakenWidth {
  readonly blocks: bigint
  readonly until: bigint
}

const nanosOfSecond = 1_000_000_000n
/** How long a narrower range is kept to, and how long a node that refuses is not asked. */
const narrowFor = 600n * nanosOfSecond
const refusedFor = 60n * nanosOfSecond

/** Widths by the clients of an endpoint, or of all endpoints of its chain. */
const taken = new WeakMap<EvmClients["Service"], Map<ChainId, TakenWidth>>()

const widthOf = Effect.fnUntraced(function* (chainId: ChainId) {
  const known = taken.get(yield* EvmClients)?.get(chainId)
  return known !== undefined && known.until > (yield* Clock.monotonicTimeNanos) ? known.blocks : logWidths[0]
})

const remember = Effect.fnUntraced(function* (chainId: ChainId, blocks: bigint) {
  const clients = yield* EvmClients
  const until = (yield* Clock.monotonicTimeNanos) + (blocks === 0n ? refusedFor : narrowFor)
  const ofClients = taken.get(clients) ?? new Map<ChainId, TakenWidth>()
  taken.set(clients, ofClients.set(chainId, { blocks, until }))
})

const refusals: ReadonlySet<number> = new Set([400, 413, 422])

/** The node has answered and does not want to, as against one that gives no answer. */
const isRefusal = (error: unknown): boolean => {
  if (rpcErrorOf(error) !== undefined) return true
  if (!(error instanceof BaseError)) return false
  if (error.walk((cause) => cause instanceof ResponseBodyTooLargeError) !== null) return true
  const http = error.walk((cause) => cause instanceof HttpRequestError)
  return http instanceof HttpRequestError && http.status !== undefined && refusals.has(http.status)
}

export interface LogSearch<A> {
  readonly range: BlockRange
  readonly read: (client: PublicClient, range: BlockRange) => Promise<ReadonlyArray<A>>
  /** Whether what was found ends the search. */
  readonly isEnough?: (found: ReadonlyArray<A>) => boolean
}

/** How many requests a search may take of this endpoint; infinite where it refuses logs. */
export const requestsFor = Effect.fnUntraced(function* (chainId: ChainId, { fromBlock, toBlock }: BlockRange) {
  const width = yield* widthOf(chainId)
  if (width === 0n) return Number.POSITIVE_INFINITY
  return toBlock < fromBlock ? 0 : Number((toBlock - fromBlock) / width) + 1
})

/** What the logs of the range hold, in the order of the blocks; fails where the node does not show all of it. */
export const searchLogs = Effect.fnUntraced(function* <A>(
  chainId: ChainId,
  { isEnough = () => false, range: { fromBlock, toBlock }, read }: LogSearch<A>
): Effect.fn.Return<ReadonlyArray<A>, ChainUnavailable, EvmClients> {
  const { request } = yield* EvmClients
  const found: Array<A> = []
  let width = yield* widthOf(chainId)
  if (width === 0n) return yield* new ChainUnavailable({ chainId, reason: "eth_getLogs: the node refuses it" })
  for (let first = fromBlock; first <= toBlock && !isEnough(found);) {
    const last = first + width - 1n < toBlock ? first + width - 1n : toBlock
    let isRefused = false
    const logs = yield* Effect.result(
      request(chainId, "eth_getLogs", (client) =>
        read(client, { fromBlock: first, toBlock: last }).catch((error: unknown) => {
          isRefused = isRefusal(error)
          throw error
        })
      )
    )
    if (Result.isSuccess(logs)) {
      found.push(...logs.success)
      first = last + 1n
      continue
    }
    if (!isRefused) return yield* logs.failure
    const narrower = logWidths.find((blocks) => blocks < last - first + 1n)
    yield* remember(chainId, narrower ?? 0n)
    if (narrower === undefined) return yield* logs.failure
    width = narrower
  }
  return found
})
