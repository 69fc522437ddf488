/**
 * Concurrent reads of contracts in few `eth_call`s: what is requested while a request runs goes into the next one, each
 * call once. All calls of one caller are answered at one block.
 */
import { Effect, Result } from "effect"
import { batched } from "#domain/effects/batched.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Call, Reading } from "#layers/evm/rpc/aggregate.ts"

/** The block that calls are of: one that is named, or the latest of a node that has reached one. */
export interface BatchFrame {
  readonly blockNumber?: bigint | undefined
  readonly notBefore?: bigint | undefined
  readonly takesOld?: boolean | undefined
}

type Ask = (calls: ReadonlyArray<Call>, frame: BatchFrame) => Effect.Effect<Reading, ChainUnavailable>

interface Requested {
  readonly id: number
  readonly calls: ReadonlyArray<Call>
  readonly frame: BatchFrame
}

/** Calls of one request, far below what nodes let an `eth_call` use and answer. One asker's calls are never split. */
const maxCalls = 500
const maxRequests = 4

const keyOf = ({ data, target }: Call): string => `${target.toLowerCase()} ${data}`

const isAlike = (one: BatchFrame, other: BatchFrame): boolean =>
  one.blockNumber === other.blockNumber && (one.takesOld ?? false) === (other.takesOld ?? false)

/** What all of the askers can use. */
const frameOf = (items: ReadonlyArray<Requested>): BatchFrame => {
  const notBefore = items.reduce((most, { frame }) => ((frame.notBefore ?? 0n) > most ? frame.notBefore! : most), 0n)
  return { ...items[0]!.frame, notBefore }
}

/** Askers whose calls go into one request: of one block, and as many as fit. */
const requestsOf = (requested: ReadonlyArray<Requested>): ReadonlyArray<ReadonlyArray<Requested>> => {
  const requests: Array<{ readonly items: Array<Requested>; readonly keys: Set<string> }> = []
  for (const item of requested) {
    const keys = item.calls.map(keyOf)
    const open = requests.find(
      ({ items, keys: known }) =>
        isAlike(items[0]!.frame, item.frame) && known.size + keys.filter((key) => !known.has(key)).length <= maxCalls
    )
    if (open === undefined) requests.push({ items: [item], keys: new Set(keys) })
    else {
      open.items.push(item)
      for (const key of keys) open.keys.add(key)
    }
  }
  return requests.map(({ items }) => items)
}

/**
 * Makes the calls of one chain. A request that fails as a whole is repeated for each asker alone, so that none fails
 * for another's calls, nor for the block that another one needs.
 */
export const batchedCalls = Effect.fnUntraced(function* (ask: Ask) {
  const askTogether = Effect.fnUntraced(function* (items: ReadonlyArray<Requested>) {
    const calls = new Map(items.flatMap((item) => item.calls.map((call) => [keyOf(call), call] as const)))
    const { results, ...rest } = yield* ask([...calls.values()], frameOf(items))
    const found = new Map([...calls.keys()].map((key, index) => [key, results[index]!]))
    return items.map(({ calls, id }) => {
      const reading: Reading = { ...rest, results: calls.map((call) => found.get(keyOf(call))!) }
      return [id, Result.succeed(reading)] as const
    })
  })

  const readEach = Effect.fnUntraced(function* (items: ReadonlyArray<Requested>) {
    return yield* Effect.forEach(
      items,
      ({ calls, frame, id }) => Effect.map(Effect.result(ask(calls, frame)), (answer) => [id, answer] as const),
      { concurrency: maxRequests }
    )
  })

  const readCalls = yield* batched(
    ({ id }: Requested) => String(id),
    (requested: ReadonlyArray<Requested>) =>
      Effect.gen(function* () {
        const answers = yield* Effect.forEach(
          requestsOf(requested),
          (items): Effect.Effect<ReadonlyArray<readonly [number, Result.Result<Reading, ChainUnavailable>]>> =>
            items.length === 1 ? readEach(items) : Effect.catch(askTogether(items), () => readEach(items)),
          { concurrency: maxRequests }
        )
        const found = new Map(answers.flat())
        return ({ id }: Requested) => found.get(id)!
      })
  )

  let last = 0
  return (calls: ReadonlyArray<Call>, frame: BatchFrame) =>
    Effect.suspend(() => {
      last += 1
      return Effect.flatMap(readCalls({ id: last, calls, frame }), Effect.fromResult)
    })
})
