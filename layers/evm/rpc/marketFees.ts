/**
 * What the chain takes now for a unit of gas. The tip is what others paid in the latest blocks, by `eth_feeHistory`,
 * never what a node suggests: one node's suggestion is one node's claim, and it is paid in full.
 *
 * Every endpoint of a chain is asked. The tip that counts is the median of theirs, of an even number the lower one, so
 * one that asks too much is outvoted. Of the base fees the highest counts: a block takes its own and no more, so one
 * that is too high costs nothing, while one that is too low holds a transaction up.
 */
import { Array as Arr, Effect } from "effect"
import type { GetFeeHistoryReturnType } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { MarketFees } from "#domain/relay/replacementFees.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { concluded, readEach } from "#layers/evm/rpc/quorum.ts"

/** Blocks whose tips are read: twenty seconds and more of a rollup, two minutes of Ethereum. */
const blockCount = 10
/** Half of a block's gas paid at most this tip. */
const percentile = 50

/** Median; of an even number the lower one of the two in the middle. */
const lowerMedian = (values: Arr.NonEmptyReadonlyArray<bigint>): bigint => {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor((sorted.length - 1) / 2)]!
}

const largest = (values: Arr.NonEmptyReadonlyArray<bigint>): bigint => values.reduce((a, b) => (a > b ? a : b))

/** The latest of the blocks: there is one base fee more, that of the next. */
const latestIn = ({ baseFeePerGas, oldestBlock }: GetFeeHistoryReturnType): bigint =>
  oldestBlock + BigInt(baseFeePerGas.length) - 2n

/** Reads fees from one endpoint. A node with another number of answers, or with negative ones, is no witness. */
const readOne = Effect.fnUntraced(function* (chainId: ChainId) {
  const { request } = yield* EvmClients
  const history = yield* request(
    chainId,
    "eth_feeHistory",
    (client) => client.getFeeHistory({ blockCount, blockTag: "latest", rewardPercentiles: [percentile] }),
    { blockOf: latestIn }
  )
  const next = history.baseFeePerGas.at(-1)
  const tips = (history.reward ?? []).flat()
  if (next === undefined || !Arr.isReadonlyArrayNonEmpty(tips) || [next, ...tips].some((wei) => wei < 0n)) {
    return yield* new ChainUnavailable({ chainId, reason: "eth_feeHistory: the answer has no fees" })
  }
  const fees: MarketFees = { baseFeePerGas: next, tip: lowerMedian(tips) }
  return fees
})

/** Fails when no endpoint answers. `minTip` of the chain is offered where blocks were taken for less. */
export const readMarketFees = Effect.fn("readMarketFees")(function* (chainId: ChainId) {
  const { chain } = yield* EvmClients
  const { minTip } = yield* chain(chainId)
  const seen = yield* concluded(chainId, yield* readEach(chainId, () => readOne(chainId)))
  const fees: MarketFees = {
    baseFeePerGas: largest(Arr.map(seen, ({ baseFeePerGas }) => baseFeePerGas)),
    tip: largest([minTip, lowerMedian(Arr.map(seen, ({ tip }) => tip))])
  }
  return fees
})
