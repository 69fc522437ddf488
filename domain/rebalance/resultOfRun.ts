/** What a rebalance run did, from its plan and what became of it on each chain; pure. */
import type { AssetId } from "#domain/values/Caip.ts"
import {
  type ChainResult,
  isAtRest,
  type OperationOutcome,
  type OperationReport,
  ownTransfer,
  operationResult,
  sumKnown,
  type SwapResult,
  type TransactionResult
} from "#domain/operation/OperationResult.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { swapResult } from "#domain/trading/swapResult.ts"
import type { Venue } from "#domain/trading/Venue.ts"

const bps = 10_000n

export interface RunFacts {
  readonly plan: Pick<RunPlan, "chains">
  readonly outcomes: ReadonlyArray<ChainOutcome>
  /** The transactions of the chain at the same index. */
  readonly transactions: ReadonlyArray<ReadonlyArray<TransactionResult>>
  /** What plans take the venue's fee of a swap on a chain to be. */
  readonly assumedFeeBps: Venue["Service"]["assumedFeeBps"]
}

const hasLanded = ({ receipt }: ChainOutcome): boolean => receipt?.success === true

const hasLeft = ({ failure, skips }: ChainOutcome): boolean =>
  failure !== null || skips.some(({ code }) => !isAtRest(code))

const outcomeOfRun = (outcomes: ReadonlyArray<ChainOutcome>): OperationOutcome => {
  const left = outcomes.some(hasLeft)
  if (outcomes.some(hasLanded)) return left ? "partly_traded" : "traded"
  return left ? "skipped" : "nothing_to_do"
}

/** What the batch brought of an asset: the account's change, and what the batch itself took away again. */
const broughtOf = ({ receipt, swaps, transfers = [] }: ChainOutcome, assetId: AssetId): bigint => {
  const change = receipt?.deltas.find((delta) => delta.assetId === assetId)?.raw ?? 0n
  const sold = swaps.reduce((sum, { sell, sellAmountRaw }) => (sell === assetId ? sum + sellAmountRaw : sum), 0n)
  const sent = transfers.reduce((sum, { amountRaw, sell }) => (sell === assetId ? sum + amountRaw : sum), 0n)
  return change + sold + sent
}

/** One result for each pair, whose trade may have gone over several paths. */
const swapsOf = (outcome: ChainOutcome): ReadonlyArray<SwapResult> => {
  const pairs = [...Map.groupBy(outcome.swaps, ({ buy, sell }) => `${sell} ${buy}`).values()]
  return pairs.map((swaps) => {
    const { buy } = swaps[0]!
    const isOnly = pairs.filter(([other]) => other!.buy === buy).length === 1
    const [first, ...others] = swaps.map((swap) => swapResult(swap, null))
    const sum = others.reduce(addSwap, first!)
    return { ...sum, receivedRaw: isOnly ? broughtOf(outcome, buy) : null }
  })
}

const addSwap = (sum: SwapResult, { feeRaw, minOutRaw, soldRaw }: SwapResult): SwapResult => ({
  ...sum,
  soldRaw: sum.soldRaw + soldRaw,
  minOutRaw: sum.minOutRaw + minOutRaw,
  feeRaw: sum.feeRaw === null || feeRaw === null ? null : sum.feeRaw + feeRaw
})

/** Value sold less value received, each at what the plan reckoned the asset to be worth. */
const tradingCostOf = (
  outcome: ChainOutcome,
  legs: RunPlan["chains"][number]["legs"],
  assumedFeeBps: number
): bigint | null => {
  if (!hasLanded(outcome)) return 0n
  const sold = outcome.swaps.map(({ sell, sellAmountRaw }) => {
    const leg = legs.find((planned) => planned.sell === sell)
    return leg === undefined ? null : (sellAmountRaw * leg.valueUsd) / leg.sellAmountRaw
  })
  const received = [...new Set(outcome.swaps.map(({ buy }) => buy))].map((buy) => {
    // The plan expects the fee that it counted to be taken off already.
    const leg = legs.find((planned) => planned.buy === buy && planned.expectedBuyRaw > 0n)
    if (leg === undefined) return null
    return (broughtOf(outcome, buy) * leg.valueUsd * (bps - BigInt(assumedFeeBps))) / (leg.expectedBuyRaw * bps)
  })
  const [soldUsd, receivedUsd] = [sumKnown(sold), sumKnown(received)]
  return soldUsd === null || receivedUsd === null ? null : soldUsd - receivedUsd
}

export const resultOfRun = ({ assumedFeeBps, outcomes, plan, transactions }: RunFacts): OperationReport => {
  const chains = outcomes.map((outcome, index): ChainResult => {
    const { chainId, failure, skips, transfers = [] } = outcome
    return {
      chainId,
      swaps: hasLanded(outcome) ? swapsOf(outcome) : [],
      transfers: hasLanded(outcome) ? transfers.map((transfer) => ownTransfer(transfer, null)) : [],
      transactions: transactions[index] ?? [],
      skips,
      failure
    }
  })
  const costs = outcomes.map((outcome) => {
    const legs = plan.chains.find(({ chainId }) => chainId === outcome.chainId)?.legs ?? []
    return tradingCostOf(outcome, legs, assumedFeeBps(outcome.chainId))
  })
  return { outcome: outcomeOfRun(outcomes), result: operationResult(chains, sumKnown(costs)) }
}

/** The receipts of a chain's attempts, in order. */
export const receiptsOf = ({ receipt, reverted = [] }: ChainOutcome): ReadonlyArray<ActionReceipt> =>
  receipt === null ? reverted : [...reverted, receipt]
