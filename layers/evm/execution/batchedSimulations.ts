/**
 * Simulations of several operations in one `eth_call`. Each runs in a frame that is reverted with its results, so all
 * of them begin at the same state and none sees what another does; its answer is the one it would have had alone.
 */
import { Effect, Result } from "effect"
import { type Address, getAbiItem, type Hex, toFunctionSelector } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { batched } from "#domain/effects/batched.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { addressWord, bytesAt, bytesWords, numberAt, numberWord } from "#layers/evm/rpc/abiWords.ts"
import { type Call, type CallResult, decodeResults, encodeCalls } from "#layers/evm/rpc/aggregate.ts"
import { entryPoint, entryPointAbi, multicall3 } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"

export interface Simulation {
  readonly chainId: ChainId
  readonly from: Address
  /** Gas of everything in it. */
  readonly gas: bigint
  readonly calls: ReadonlyArray<Call>
  /** The first block that it may run on. */
  readonly notBefore: bigint
}

type Results = ReadonlyArray<CallResult>
type Answer = Result.Result<Results, ChainUnavailable>

interface Requested {
  readonly id: number
  readonly simulation: Simulation
}

/** Gas of one request: nodes commonly let an `eth_call` use 50 million. */
const maxGas = 45_000_000n
const maxRequests = 4

const delegateAndRevert = toFunctionSelector(getAbiItem({ abi: entryPointAbi, name: "delegateAndRevert" }))
const delegatedAndReverted = toFunctionSelector("DelegateAndRevert(bool,bytes)")

/** Results that the EntryPoint reverts with, as it reverts everything that `calls` did. */
export const revertedCalls = (calls: ReadonlyArray<Call>): Call => ({
  target: entryPoint,
  data: `${delegateAndRevert}${addressWord(multicall3)}${numberWord(2 * 32)}${bytesWords(encodeCalls(calls))}`
})

/** Undefined when the frame came to another end than its revert with results. */
export const resultsOfReverted = ({ data }: CallResult): Results | undefined => {
  if (!data.startsWith(delegatedAndReverted)) return undefined
  const words: Hex = `0x${data.slice(delegatedAndReverted.length)}`
  try {
    return decodeResults(bytesAt(words, numberAt(words, 32)))
  } catch {
    return undefined
  }
}

/** Splits simulations into requests: as many of one sender in a request as its gas allows, in their order. */
const requestsOf = (requested: ReadonlyArray<Requested>): ReadonlyArray<ReadonlyArray<Requested>> => {
  const requests: Array<{ readonly items: Array<Requested>; gas: bigint }> = []
  for (const item of requested) {
    const { from, gas } = item.simulation
    const open = requests.find(({ gas: used, items }) => items[0]!.simulation.from === from && used + gas <= maxGas)
    if (open === undefined) requests.push({ items: [item], gas })
    else {
      open.items.push(item)
      open.gas += gas
    }
  }
  return requests.map(({ items }) => items)
}

/** Simulates in a request of its own. */
export const simulateAlone = ({ calls, chainId, from, gas, notBefore }: Simulation) =>
  multicall(chainId, calls, { from, gas, notBefore })

/** Simulates on one chain. What does not fit into a request with others, or no answer in it, is simulated alone. */
export const batchedSimulations = Effect.gen(function* () {
  const eachAlone = Effect.fnUntraced(function* (items: ReadonlyArray<Requested>) {
    return yield* Effect.forEach(
      items,
      ({ id, simulation }) =>
        Effect.map(Effect.result(simulateAlone(simulation)), (answer): readonly [number, Answer] => [id, answer]),
      { concurrency: maxRequests }
    )
  })

  const together = Effect.fnUntraced(function* (items: ReadonlyArray<Requested>) {
    const { chainId, from } = items[0]!.simulation
    const frames = yield* multicall(
      chainId,
      items.map(({ simulation }) => revertedCalls(simulation.calls)),
      {
        from,
        gas: items.reduce((sum, { simulation }) => sum + simulation.gas, 0n),
        notBefore: items.reduce((most, { simulation: { notBefore } }) => (notBefore > most ? notBefore : most), 0n)
      }
    )
    const found = items.flatMap(({ id }, index): ReadonlyArray<readonly [number, Answer]> => {
      const results = resultsOfReverted(frames[index]!)
      return results === undefined ? [] : [[id, Result.succeed(results)]]
    })
    const known = new Set(found.map(([id]) => id))
    return [...found, ...(yield* eachAlone(items.filter(({ id }) => !known.has(id))))]
  })

  const clients = yield* EvmClients
  const simulate = yield* batched(
    ({ id }: Requested) => String(id),
    (requested: ReadonlyArray<Requested>, record: (one: Requested, answer: Answer) => void) =>
      Effect.gen(function* () {
        const byId = new Map(requested.map((one) => [one.id, one]))
        const answers = yield* Effect.forEach(
          requestsOf(requested),
          // An answered caller goes on while the other requests are under way.
          (items) =>
            Effect.tap(
              items.length === 1 ? eachAlone(items) : Effect.catch(together(items), () => eachAlone(items)),
              (found) => Effect.sync(() => found.forEach(([id, answer]) => record(byId.get(id)!, answer)))
            ),
          { concurrency: maxRequests }
        )
        const found = new Map(answers.flat())
        return ({ id }: Requested) => found.get(id)!
      }).pipe(Effect.provideService(EvmClients, clients))
  )

  let last = 0
  return (simulation: Simulation) =>
    Effect.suspend(() => {
      last += 1
      return Effect.flatMap(simulate({ id: last, simulation }), Effect.fromResult)
    })
})
