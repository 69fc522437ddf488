/**
 * Reads of many callers in few requests: what is requested while a request runs goes into the next one, each key once.
 * All keys of one caller are answered by one request, so at one slot.
 */
import { Effect, type Scope } from "effect"
import { batched } from "#domain/effects/batched.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** Values in the order of the keys, and the slot at which they were read. */
export interface Read<V> {
  readonly slot: bigint
  readonly values: ReadonlyArray<V>
}

interface Requested {
  readonly id: number
  readonly keys: ReadonlyArray<string>
  readonly atLeastSlot: bigint
}

const maxRequests = 4

/** Askers whose keys go into one request, as many as fit. An asker has no more keys than fit. */
const requestsOf = (requested: ReadonlyArray<Requested>, limit: number): ReadonlyArray<ReadonlyArray<Requested>> => {
  const requests: Array<{ readonly items: Array<Requested>; readonly keys: Set<string> }> = []
  for (const item of requested) {
    const open = requests.find(({ keys }) => new Set([...keys, ...item.keys]).size <= limit)
    if (open === undefined) requests.push({ items: [item], keys: new Set(item.keys) })
    else {
      open.items.push(item)
      for (const key of item.keys) open.keys.add(key)
    }
  }
  return requests.map(({ items }) => items)
}

/**
 * `read` returns at most `limit` keys, not before a slot. A caller with more keys is answered by several requests, with
 * the earliest of their slots.
 */
export const batchedReads = Effect.fnUntraced(function* <V>(
  limit: number,
  read: (keys: ReadonlyArray<string>, atLeastSlot: bigint) => Effect.Effect<Read<V>, ChainUnavailable>
): Effect.fn.Return<
  (keys: ReadonlyArray<string>, atLeastSlot: bigint) => Effect.Effect<Read<V>, ChainUnavailable>,
  never,
  Scope.Scope
> {
  const askTogether = Effect.fnUntraced(function* (items: ReadonlyArray<Requested>) {
    const keys = [...new Set(items.flatMap((item) => item.keys))]
    const atLeastSlot = items.reduce((latest, item) => (item.atLeastSlot > latest ? item.atLeastSlot : latest), 0n)
    const { slot, values } = yield* read(keys, atLeastSlot)
    const found = new Map(keys.map((key, index) => [key, values[index]!]))
    return items.map((item) => [item.id, { slot, values: item.keys.map((key) => found.get(key)!) }] as const)
  })

  const readTogether = yield* batched(
    ({ id }: Requested) => String(id),
    (requested: ReadonlyArray<Requested>) =>
      Effect.map(Effect.forEach(requestsOf(requested, limit), askTogether, { concurrency: maxRequests }), (answers) => {
        const found = new Map(answers.flat())
        return ({ id }: Requested) => found.get(id)!
      })
  )

  let last = 0
  const ask = (keys: ReadonlyArray<string>, atLeastSlot: bigint) =>
    Effect.suspend(() => readTogether({ id: (last += 1), keys, atLeastSlot }))

  return Effect.fnUntraced(function* (keys, atLeastSlot) {
    if (keys.length === 0) return { slot: atLeastSlot, values: [] }
    const parts = Array.from({ length: Math.ceil(keys.length / limit) }, (_, part) =>
      keys.slice(part * limit, (part + 1) * limit)
    )
    const reads = yield* Effect.forEach(parts, (part) => ask(part, atLeastSlot), { concurrency: maxRequests })
    return {
      slot: reads.reduce((earliest, { slot }) => (slot < earliest ? slot : earliest), reads[0]!.slot),
      values: reads.flatMap(({ values }) => values)
    }
  })
})
