/**
 * What became of all pending user operations of a chain, in one reading: the head, one search of the EntryPoint's
 * events for all of them, and the receipt of each transaction that carried some.
 *
 * Only what every endpoint shows as carried and confirmed is answered from it. Whatever ends otherwise (a nonce that is
 * used without the event, endpoints that contradict each other) is read again on its own, by findReceipt.
 */
import { Clock, Duration, Effect, Option, Result } from "effect"
import type { Hex, TransactionReceipt } from "viem"
import type { ChainId, AccountId } from "#domain/Caip.ts"
import { batched } from "#domain/batched.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import { toViem } from "#layers/evm/address.ts"
import { sleepRealTime } from "#layers/clock/withinRealTime.ts"
import { readEach, conclude, concluded, type Observation } from "#layers/evm/rpc/quorum.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { operationEvents, rangesFrom } from "#layers/evm/execution/operationEvents.ts"
import { outcomeIn } from "#layers/evm/execution/operationOutcome.ts"
import { receiptOf } from "#layers/evm/execution/sendTransaction.ts"
import { readDepth } from "#layers/evm/execution/confirmedReceipt.ts"

export interface Awaited {
  readonly transaction: SignedTransaction
  readonly accountId: AccountId
}

/**
 * Milliseconds between two readings of a chain: few that wait are told soon, many share a reading, and while the head
 * stays the same it is asked for less and less often.
 */
const pauseFor = (waiting: number): number => Math.min(100 + waiting, 250)
const pauseGrowth = 1.5
const longestPause = 500
/** Hashes in one search of events: nodes take some hundred alternatives of a topic. */
const maxHashes = 200

/** Where an operation's event was found. */
interface Place {
  readonly transactionHash: Hex
  readonly blockHash: Hex
  readonly blockNumber: bigint
}

/** What an endpoint showed at its head: those operations had no event and no used nonce. */
interface Shown {
  readonly head: bigint
  readonly absent: ReadonlySet<string>
}

const nothingYet: Shown = { head: -1n, absent: new Set() }

const chunksOf = <T>(items: ReadonlyArray<T>, size: number): ReadonlyArray<ReadonlyArray<T>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

/** The events of all of them, sought forward from the earliest block that one of them may be in. */
const findPlaces = Effect.fnUntraced(function* (chainId: ChainId, awaited: ReadonlyArray<Awaited>, head: bigint) {
  const places = new Map<string, Place>()
  for (const part of chunksOf(awaited, maxHashes)) {
    const hashes = part.map(({ transaction }) => transaction.actionHash as Hex)
    const from = part.reduce(
      (least, { transaction }) => (transaction.fromBlock < least ? transaction.fromBlock : least),
      head
    )
    for (const range of rangesFrom(from, head)) {
      if (hashes.every((hash) => places.has(hash))) break
      const logs = yield* operationEvents(chainId, { userOpHash: hashes }, range)
      for (const { args, blockHash, blockNumber, transactionHash } of logs)
        places.set(args.userOpHash, { blockHash, blockNumber, transactionHash })
    }
  }
  return places
})

const readReceipts = Effect.fnUntraced(function* (chainId: ChainId, hashes: ReadonlySet<Hex>) {
  const { request } = yield* EvmClients
  const receipts = yield* Effect.forEach(
    hashes,
    (hash) => request(chainId, "eth_getTransactionReceipt", (client) => receiptOf(client, hash)),
    { concurrency: 4 }
  )
  return new Map(receipts.flatMap((receipt) => (receipt === null ? [] : [[receipt.transactionHash, receipt] as const])))
})

/** The accounts of the relayer that have used a nonce of one of these, by the confirmed block. */
const readUsedNonces = Effect.fnUntraced(function* (
  chainId: ChainId,
  awaited: ReadonlyArray<Awaited>,
  confirmed: bigint
) {
  const { request } = yield* EvmClients
  const relayers = [...new Set(awaited.map(({ transaction }) => transaction.relayer))]
  const used = yield* Effect.forEach(relayers, (relayer) =>
    request(chainId, "eth_getTransactionCount", (client) =>
      client.getTransactionCount({ address: toViem(relayer), blockNumber: confirmed })
    )
  )
  return new Map(relayers.map((relayer, index) => [relayer, used[index]!]))
})

const outcomeOf = (
  { accountId, transaction }: Awaited,
  place: Place,
  receipt: TransactionReceipt | undefined
): Option.Option<ActionReceipt> =>
  receipt === undefined || receipt.blockHash !== place.blockHash
    ? Option.none()
    : outcomeIn(receipt, transaction.actionHash, accountId)

/** What one endpoint shows of each of them; "gone" where the nonce is used and no transaction carried the operation. */
const observeAll = Effect.fnUntraced(function* (chainId: ChainId, awaited: ReadonlyArray<Awaited>, before: Shown) {
  const { head, confirmed } = yield* readDepth(chainId)
  const wasAbsent = head === before.head ? before.absent : new Set<string>()
  const open = awaited.filter(({ transaction }) => !wasAbsent.has(transaction.actionHash))
  const places = open.length === 0 ? new Map<string, Place>() : yield* findPlaces(chainId, open, head)
  const isConfirmed = (place: Place | undefined) => place !== undefined && place.blockNumber <= confirmed
  const hashes = [...places.values()].filter(isConfirmed).map(({ transactionHash }) => transactionHash)
  const receipts = yield* readReceipts(chainId, new Set(hashes))
  const missing = open.filter(({ transaction }) => !places.has(transaction.actionHash))
  const used = yield* readUsedNonces(chainId, missing, confirmed)
  const isGone = ({ nonce, relayer }: SignedTransaction) => (used.get(relayer) ?? 0) > nonce
  const absent = missing
    .filter(({ transaction }) => !isGone(transaction))
    .map(({ transaction }) => transaction.actionHash)
  const shown: Shown = { head, absent: new Set([...wasAbsent, ...absent]) }
  const observe = (one: Awaited): Observation | "gone" => {
    const { actionHash } = one.transaction
    if (shown.absent.has(actionHash)) return { head, confirmed, receipt: Option.none() }
    const place = places.get(actionHash)
    if (place === undefined) return "gone"
    const receipt = isConfirmed(place)
      ? outcomeOf(one, place, receipts.get(place.transactionHash))
      : Option.none<ActionReceipt>()
    return { head, confirmed, receipt }
  }
  return { shown, observe }
})

/** The receipt, none while there is none; "inconclusive" where it must be read on its own. */
export type Gathered = Result.Result<Option.Option<ActionReceipt> | "inconclusive", ChainUnavailable>

/** Of one chain. */
export const gatheredReceipts = Effect.fnUntraced(function* (chainId: ChainId) {
  const clients = yield* EvmClients
  const shownBy = new Map<number, Shown>()
  let next = 0n
  let sameHeads = 0

  const latestHead = (): bigint =>
    [...shownBy.values()].reduce((latest, { head }) => (head > latest ? head : latest), -1n)

  const observeBy = (place: number, awaited: ReadonlyArray<Awaited>) =>
    Effect.tap(observeAll(chainId, awaited, shownBy.get(place) ?? nothingYet), ({ shown }) =>
      Effect.sync(() => shownBy.set(place, shown))
    )

  const readAll = Effect.fnUntraced(function* (awaited: ReadonlyArray<Awaited>) {
    const now = yield* Clock.monotonicTimeNanos
    if (now < next) yield* sleepRealTime(Duration.nanos(next - now))
    const since = yield* Clock.monotonicTimeNanos
    const headBefore = latestHead()
    const results = yield* Effect.provideService(
      readEach(chainId, (place) => observeBy(place, awaited)),
      EvmClients,
      clients
    )
    sameHeads = latestHead() > headBefore ? 0 : sameHeads + 1
    const pause = Math.min(pauseFor(awaited.length) * pauseGrowth ** sameHeads, longestPause)
    next = since + BigInt(Math.round(pause)) * 1_000_000n
    const views = yield* Effect.result(concluded(chainId, results))
    return (one: Awaited): Gathered => {
      if (Result.isFailure(views)) return Result.fail(views.failure)
      const observations = views.success.map(({ observe }) => observe(one))
      const observed = observations.filter((observe) => observe !== "gone")
      if (observed.length < observations.length) return Result.succeed("inconclusive")
      const conclusion = conclude(observed)
      return Result.succeed(conclusion === "contradiction" ? "inconclusive" : conclusion)
    }
  })

  return yield* batched(({ transaction }: Awaited) => transaction.actionHash, readAll)
})
