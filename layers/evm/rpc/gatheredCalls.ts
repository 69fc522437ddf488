/**
 * Concurrent reads of contracts in few `eth_call`s: what is requested while a request runs goes into the next one, each
 * call once. All calls of one caller are answered at one block.
 */
import { Effect, Result } from "effect"
import type { PublicClient } from "viem"
import { batched } from "#domain/batched.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { aggregate, type Call, type CallResult } from "#layers/evm/rpc/aggregate.ts"

type Send = <A>(method: string, send: (client: PublicClient) => Promise<A>) => Effect.Effect<A, ChainUnavailable>

type Results = ReadonlyArray<CallResult>

interface Requested {
  readonly id: number
  readonly calls: ReadonlyArray<Call>
  readonly blockNumber: bigint | undefined
}

/** Calls of one request, far below what nodes let an `eth_call` use and answer. One asker's calls are never split. */
const maxCalls = 500
const maxRequests = 4

const keyOf = ({ data, target }: Call): string => `${target.toLowerCase()} ${data}`

/** Askers whose calls go into one request: of one block, and as many as fit. */
const requestsOf = (requested: ReadonlyArray<Requested>): ReadonlyArray<ReadonlyArray<Requested>> => {
  const requests: Array<{ readonly items: Array<Requested>; readonly keys: Set<string> }> = []
  for (const item of requested) {
    const keys = item.calls.map(keyOf)
    const open = requests.find(
      ({ items, keys: known }) =>
        items[0]!.blockNumber === item.blockNumber &&
        known.size + keys.filter((key) => !known.has(key)).length <= maxCalls
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
 * Of one chain. A request that fails as a whole is repeated for each asker alone, so that none fails for another's
 * calls.
 */
export const gatheredCalls = Effect.fnUntraced(function* (send: Send) {
  const ask = (calls: ReadonlyArray<Call>, blockNumber: bigint | undefined) =>
    send("eth_call", (client) => aggregate(client, calls, { blockNumber }))

  const askTogether = Effect.fnUntraced(function* (items: ReadonlyArray<Requested>) {
    const calls = new Map(items.flatMap((item) => item.calls.map((call) => [keyOf(call), call] as const)))
    const results = yield* ask([...calls.values()], items[0]!.blockNumber)
    const found = new Map([...calls.keys()].map((key, index) => [key, results[index]!]))
    return items.map((item) => [item.id, Result.succeed(item.calls.map((call) => found.get(keyOf(call))!))] as const)
  })

  const readEach = Effect.fnUntraced(function* (items: ReadonlyArray<Requested>) {
    return yield* Effect.forEach(
      items,
      ({ blockNumber, calls, id }) =>
        Effect.map(Effect.result(ask(calls, blockNumber)), (answer) => [id, answer] as const),
      { concurrency: maxRequests }
    )
  })

  const gather = yield* batched(
    ({ id }: Requested) => String(id),
    (requested: ReadonlyArray<Requested>) =>
      Effect.gen(function* () {
        const answers = yield* Effect.forEach(
          requestsOf(requested),
          (items): Effect.Effect<ReadonlyArray<readonly [number, Result.Result<Results, ChainUnavailable>]>> =>
            items.length === 1 ? readEach(items) : Effect.catch(askTogether(items), () => readEach(items)),
          { concurrency: maxRequests }
        )
        const found = new Map(answers.flat())
        return ({ id }: Requested) => found.get(id)!
      })
  )

  let last = 0
  return (calls: ReadonlyArray<Call>, blockNumber: bigint | undefined) =>
    Effect.suspend(() => {
      last += 1
      return Effect.flatMap(gather({ id: last, calls, blockNumber }), Effect.fromResult)
    })
})
