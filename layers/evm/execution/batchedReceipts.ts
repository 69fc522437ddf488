/**
 * What became of all pending user operations of a chain, in one reading: the head, one search of the EntryPoint's
 * events for all of their accounts, and the receipt of each transaction that included some. Of an endpoint that refuses
 * so wide a search, the receipts of our own transactions whose nonce is used.
 *
 * Only what every endpoint shows as included and confirmed is answered from it, and that an operation waits: also one
 * that the account's nonce shows as included by a transaction that the endpoint does not show yet. Whatever ends
 * otherwise (a nonce that is used without the operation, endpoints that contradict each other) is read again on its
 * own, by findReceipt.
 */
import { Clock, Duration, Effect, Option, Result } from "effect"
import { type Hex, isAddressEqual, type TransactionReceipt } from "viem"
import type { ChainId, AccountId } from "#domain/values/Caip.ts"
import { batched } from "#domain/effects/batched.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { sleepRealTime } from "#layers/clock/withinRealTime.ts"
import { readEach, conclude, concluded, contradiction, type Observation } from "#layers/evm/rpc/quorum.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { requestsFor } from "#layers/evm/rpc/logSearch.ts"
import { type OperationEvent, operationEvents, rangeFrom } from "#layers/evm/execution/operationEvents.ts"
import { operationNonceReader, readOperationNonces } from "#layers/evm/account/operationNonce.ts"
import { outcomeIn } from "#layers/evm/execution/operationOutcome.ts"
import { receiptOf } from "#layers/evm/execution/sendTransaction.ts"
import { confirmedReceiptOf, readDepth } from "#layers/evm/execution/confirmedReceipt.ts"

export interface Awaited {
  readonly transaction: SignedTransaction
  readonly accountId: AccountId
}

/**
 * Milliseconds between two readings of a chain: few that wait are answered soon, many share a reading, and while the
 * head stays the same it is asked for less and less often.
 */
const pauseFor = (waiting: number): number => Math.min(100 + waiting, 250)
const pauseGrowth = 1.5
const longestPause = 500
/** Accounts in one search of events: nodes take some hundred alternatives of a topic. */
const maxAccounts = 200
/** Requests of a search, beyond which receipts of our own transactions are read instead. */
const maxSearchRequests = 8

/** Where an operation's event was found. */
interface Included2 {
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

/** The operations of their accounts, sought forward from the earliest block that one of them may be in. */
const findEvents = Effect.fnUntraced(function* (chainId: ChainId, awaited: ReadonlyArray<Awaited>, head: bigint) {
  const found: Array<OperationEvent> = []
  for (const part of chunksOf(awaited, maxAccounts)) {
    const hashes = new Set<string>(part.map(({ transaction }) => transaction.actionHash))
    const accounts = [...new Set(part.map(({ accountId }) => toViem(addressOf(accountId))))]
    const from = part.reduce(
      (least, { transaction }) => (transaction.fromBlock < least ? transaction.fromBlock : least),
      head
    )
    const range = rangeFrom(from, head)
    if ((yield* requestsFor(chainId, range)) > maxSearchRequests) continue
    const search = operationEvents(chainId, accounts, {
      range,
      isEnough: (events) => events.filter(({ args }) => hashes.has(args.userOpHash)).length === hashes.size
    })
    // What the node refuses to search is read from receipts; that it does not answer shows in the other requests.
    found.push(...(yield* Effect.orElseSucceed(search, (): ReadonlyArray<OperationEvent> => [])))
  }
  return found
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
  place: Included2,
  receipt: TransactionReceipt | undefined
): Option.Option<ActionReceipt> =>
  receipt === undefined || receipt.blockHash !== place.blockHash
    ? Option.none()
    : outcomeIn(receipt, transaction.actionHash, accountId)

/** Receipts that count of our own transactions, by their hashes; those that were not found have none. */
const readOwnReceipts = Effect.fnUntraced(function* (
  chainId: ChainId,
  awaited: ReadonlyArray<Awaited>,
  confirmed: bigint
) {
  const transactions = new Map(awaited.map(({ transaction }) => [transaction.txHash, transaction]))
  const receipts = yield* Effect.forEach(
    transactions.values(),
    ({ replaces, txHash }) =>
      Effect.map(
        confirmedReceiptOf(chainId, [txHash, ...replaces], confirmed),
        (receipt) => [txHash, receipt === "pending" ? null : receipt] as const
      ),
    { concurrency: 4 }
  )
  return new Map(receipts)
})

/** Those whose account's nonce is used, by whatever transaction, while no other operation is known to have used it. */
const readIncluded = Effect.fnUntraced(function* (
  chainId: ChainId,
  awaited: ReadonlyArray<Awaited>,
  { events, head }: { readonly events: ReadonlyArray<OperationEvent>; readonly head: bigint }
) {
  const nonceIn = operationNonceReader()
  const known = awaited.flatMap(({ accountId, transaction }) => {
    const nonce = nonceIn(transaction, accountId)
    const account = toViem(addressOf(accountId))
    const isOvertaken = events.some(({ args }) => args.nonce === nonce && isAddressEqual(args.sender, account))
    return nonce === undefined || isOvertaken ? [] : [{ accountId, nonce, actionHash: transaction.actionHash }]
  })
  const included = yield* readOperationNonces(chainId, known, head)
  return new Set<string>(known.filter((_, index) => included[index]).map(({ actionHash }) => actionHash))
})

/** What one endpoint shows of each of them; "gone" where the nonce is used and the operation was not included. */
const observeAll = Effect.fnUntraced(function* (chainId: ChainId, awaited: ReadonlyArray<Awaited>, before: Shown) {
  const { head, confirmed } = yield* readDepth(chainId)
  const wasAbsent = head === before.head ? before.absent : new Set<string>()
  const open = awaited.filter(({ transaction }) => !wasAbsent.has(transaction.actionHash))
  const events = open.length === 0 ? [] : yield* findEvents(chainId, open, head)
  const places = new Map<string, Included2>(events.map(({ args, ...place }) => [args.userOpHash, place]))
  const isConfirmed = (place: Included2 | undefined) => place !== undefined && place.blockNumber <= confirmed
  const hashes = open
    .map(({ transaction }) => places.get(transaction.actionHash))
    .flatMap((place) => (place !== undefined && isConfirmed(place) ? [place.transactionHash] : []))
  const receipts = yield* readReceipts(chainId, new Set(hashes))
  const missing = open.filter(({ transaction }) => !places.has(transaction.actionHash))
  const used = yield* readUsedNonces(chainId, missing, confirmed)
  const isUsed = ({ nonce, relayer }: SignedTransaction) => (used.get(relayer) ?? 0) > nonce
  const unseen = missing.filter(({ transaction }) => isUsed(transaction))
  const own = yield* readOwnReceipts(chainId, unseen, confirmed)
  const ownOutcomeOf = ({ accountId, transaction }: Awaited) => {
    const receipt = own.get(transaction.txHash) ?? null
    return receipt === null ? Option.none<ActionReceipt>() : outcomeIn(receipt, transaction.actionHash, accountId)
  }
  const outcomes = new Map(unseen.map((one) => [one.transaction.actionHash, ownOutcomeOf(one)]))
  const undecided = unseen.filter(({ transaction }) => Option.isNone(outcomes.get(transaction.actionHash)!))
  const included = yield* readIncluded(chainId, undecided, { events, head })
  const absent = missing
    .filter(({ transaction }) => !isUsed(transaction))
    .map(({ transaction }) => transaction.actionHash)
  const shown: Shown = { head, absent: new Set([...wasAbsent, ...absent]) }
  const observe = (one: Awaited): Observation | "gone" => {
    const { actionHash } = one.transaction
    const shows = (receipt: Option.Option<ActionReceipt>): Observation => ({ head, confirmed, receipt })
    if (shown.absent.has(actionHash) || included.has(actionHash)) return shows(Option.none())
    const place = places.get(actionHash)
    if (place !== undefined)
      return shows(isConfirmed(place) ? outcomeOf(one, place, receipts.get(place.transactionHash)) : Option.none())
    const ownOutcome = outcomes.get(actionHash) ?? Option.none()
    return Option.isSome(ownOutcome) ? shows(ownOutcome) : "gone"
  }
  return { shown, observe }
})

/** The receipt, none while there is none; "inconclusive" where it must be read on its own. */
export type Batched = Result.Result<Option.Option<ActionReceipt> | "inconclusive", ChainUnavailable>

/** Reads receipts of one chain. */
export const batchedReceipts = Effect.fnUntraced(function* (chainId: ChainId) {
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
    if (Result.isFailure(views)) return () => Result.fail(views.failure)
    const batches = new Map<string, Batched>()
    /** What some endpoints show alike, and others that have its block not at all: asking again would not help. */
    const hidden: Array<Awaited> = []
    for (const one of awaited) {
      const observations = views.success.map(({ observe }) => observe(one))
      const observed = observations.filter((observe) => observe !== "gone")
      const conclusion = observed.length < observations.length ? "contradiction" : conclude(observed)
      const shown = observed.filter(({ receipt }) => Option.isSome(receipt))
      const isHidden = observed.length === observations.length && conclude(shown) !== "contradiction"
      if (conclusion === "contradiction" && isHidden) hidden.push(one)
      batches.set(
        one.transaction.actionHash,
        Result.succeed(conclusion === "contradiction" ? "inconclusive" : conclusion)
      )
    }
    if (hidden.length > 0) {
      const failure = yield* contradiction(chainId)
      for (const { transaction } of hidden) batches.set(transaction.actionHash, Result.fail(failure))
    }
    return ({ transaction }: Awaited): Batched => batches.get(transaction.actionHash)!
  })

  return yield* batched(({ transaction }: Awaited) => transaction.actionHash, readAll)
})
