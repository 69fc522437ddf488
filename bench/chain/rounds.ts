/**
 * One round each way: the service's own path from due to completed, and the same operations bundled and sent by hand.
 */
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, isAddressEqual } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { Counted } from "#bench/chain/countedRequests.ts"
import { type CpuTimes, cpuTimesOf } from "#bench/chain/cpuTimes.ts"
import { makeAllDue, type Member } from "#bench/chain/fleet.ts"
import { bareKey, progress, submitters } from "#bench/chain/world.ts"
import type { ChainId } from "#domain/values/Caip.ts"
import { bundlesOf } from "#domain/relay/bundlesOf.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { combined } from "#layers/evm/execution/bundleOperations.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"

export interface Round {
  readonly perSecond: number
  readonly gas: number
  readonly requests: number
  readonly perTransaction: number
  readonly cpu: CpuTimes
}

/** What the blocks after `from` hold: transactions to the EntryPoint and their gas. */
const landed = async (chain: Chain, from: bigint) => {
  const head = await chain.client.getBlockNumber()
  let [gas, transactions] = [0n, 0]
  for (let number = from + 1n; number <= head; number += 1n) {
    const block = await chain.client.getBlock({ blockNumber: number, includeTransactions: true })
    const ours = block.transactions.filter((one) => submitters.some((address) => isAddressEqual(address, one.from)))
    for (const { hash } of ours) {
      const answer = await chain.client.getTransactionReceipt({ hash })
      if (answer.status !== "success") throw new Error(`Transaction ${hash} was reverted`)
      gas += answer.gasUsed
    }
    transactions += ours.length
  }
  return { gas, transactions }
}

/** A chain, and the requests that are sent to it. */
export interface CountedChain {
  readonly chain: Chain
  readonly counted: Counted
}

const measured = Effect.fnUntraced(function* <E, R>(
  { chain, counted }: CountedChain,
  count: number,
  work: Effect.Effect<void, E, R>
) {
  const from = yield* Effect.promise(() => chain.client.getBlockNumber())
  counted.counts.clear()
  const [cpu, [took]] = yield* cpuTimesOf(chain, Effect.timed(work))
  const requests = [...counted.counts.values()].reduce((sum, times) => sum + times, 0)
  const { gas, transactions } = yield* Effect.promise(() => landed(chain, from))
  const round: Round = {
    perSecond: count / Duration.toSeconds(took),
    gas: Number(gas) / count,
    requests: requests / count,
    perTransaction: count / transactions,
    cpu
  }
  return round
})

const states = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Record<"open" | "accepted" | "completed" | "ended", number>>`
    SELECT (SELECT count(*)::int FROM workflow_messages WHERE finished_at IS NULL) AS open,
      count(*)::int AS accepted, count(*) FILTER (WHERE state = 'completed')::int AS completed,
      count(*) FILTER (WHERE finished_at IS NOT NULL)::int AS ended
    FROM operations`
  return row!
})

/** All portfolios are due at once; done when each has one more completed run. */
export const ourRound = Effect.fnUntraced(function* (on: CountedChain, count: number, phase: string) {
  const before = yield* states
  const report = progress(phase, count)
  const work = Effect.gen(function* () {
    yield* makeAllDue
    const scheduler = yield* Scheduler
    let isLaunched = false
    for (;;) {
      // A tick also launches again what was not begun after some seconds, so that its count is no count of portfolios.
      if (!isLaunched) yield* scheduler.tick
      const { accepted, ended, open } = yield* states
      yield* report(ended - before.ended)
      isLaunched = accepted - before.accepted >= count
      if (open === 0 && ended - before.ended >= count) return
      // As often as the service ticks while there is work; near the end, so that it is seen when it is there.
      yield* Effect.sleep(ended - before.ended < 0.95 * count ? "100 millis" : "10 millis")
    }
  })
  const round = yield* measured(on, count, work)
  const { completed } = yield* states
  if (completed - before.completed !== count)
    return yield* Effect.die(new Error(`${completed - before.completed} of ${count} runs completed`))
  return round
})

/**
 * What one swap of half of the new dollars needs, quoted, simulated and signed by the agent, before the clock starts.
 */
const preparedFor = Effect.fnUntraced(function* (chain: Chain, members: ReadonlyArray<Member>) {
  const chainId = chain.chainId as ChainId
  const [sell, buy] = ["USDC", "WETH"].map((symbol) => tokenBySymbol(chain, symbol).assetId) as [never, never]
  const sellAmountRaw = 50_000_000n
  const [quote] = yield* (yield* Venue).quote({
    chainId,
    connectorTokens: [],
    requests: [{ sell, buy, sellAmountRaw }]
  })
  const minBuyAmountRaw = (quote!.buyAmountRaw * 98n) / 100n
  const execution = yield* SwapBatches
  return yield* Effect.forEach(
    members,
    ({ authorization, ownerSignature }) =>
      execution.prepare({
        chainId,
        authorization,
        ownerSignature,
        swaps: [{ sell, buy, sellAmountRaw, minBuyAmountRaw, execution: quote!.execution }]
      }),
    { concurrency: 32 }
  )
})

/**
 * Packs by the same limits, signs with counted nonces, sends everything and waits for the last answer.
 * `prepareSeconds` is how long its operations took before that; the round does not include it.
 */
export const bareRound = Effect.fnUntraced(function* (on: CountedChain, members: ReadonlyArray<Member>) {
  const { chain } = on
  const [took, actions] = yield* Effect.timed(preparedFor(chain, members))
  const prepared = actions.map(asTransaction)
  const account = privateKeyToAccount(bareKey)
  const send = async () => {
    let nonce = await chain.client.getTransactionCount({ address: account.address })
    const raws: Array<Hex> = []
    for (const [first, ...others] of bundlesOf(prepared, (one) => one)) {
      const { callData, gasLimit, maxFeePerGas, maxPriorityFeePerGas, to } = combined([first, ...others])
      const fees = { maxFeePerGas, maxPriorityFeePerGas }
      const call = { to: to as string as Hex, data: callData as Hex, gas: gasLimit }
      raws.push(
        await account.signTransaction({ type: "eip1559", chainId: chain.chainId, nonce: nonce++, ...call, ...fees })
      )
    }
    const hashes: Array<Hex> = []
    for (const serializedTransaction of raws)
      hashes.push(await chain.client.sendRawTransaction({ serializedTransaction }))
    for (const hash of hashes) await chain.client.waitForTransactionReceipt({ hash, timeout: 600_000 })
  }
  const round = yield* measured(on, members.length, Effect.promise(send))
  return { round, prepareSeconds: Duration.toSeconds(took) }
})
