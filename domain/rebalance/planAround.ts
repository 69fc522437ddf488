/**
 * The plan for one chain around what leaves it and what comes to it.
 */
import type { ChainId } from "#domain/Caip.ts"
import { expecting, sending } from "#domain/rebalance/aroundTransfers.ts"
import type { ChainView } from "#domain/rebalance/ChainView.ts"
import type { ChainPlan, Leg, Transfer, TransferTerms } from "#domain/rebalance/Plan.ts"
import { planChain } from "#domain/rebalance/planChain.ts"
import { carrierOf, type Move } from "#domain/rebalance/planTransfers.ts"
import type { Position } from "#domain/rebalance/Position.ts"
import { whole, type SwapCost } from "#domain/rebalance/SwapCost.ts"

/** What the legs yield may be less than what was to leave, by the cost of selling; with less than half of it nothing leaves. */
const leastPart = 2n

export interface Surroundings {
  readonly thresholdUsd: bigint
  readonly cost: SwapCost
  /** Undefined when nothing can move between chains. */
  readonly terms: TransferTerms | undefined
}

/** Raw units of the carrier once the legs are done, what has not arrived left out. */
const leftOf = ({ assetId, balanceRaw, incomingRaw }: Position, legs: ReadonlyArray<Leg>): bigint =>
  legs.reduce(
    (raw, leg) =>
      raw + (leg.buy === assetId ? leg.expectedBuyRaw : 0n) - (leg.sell === assetId ? leg.sellAmountRaw : 0n),
    balanceRaw - incomingRaw
  )

/** The moves in units of the carrier; where less is there than is wanted, because selling costs, all are cut in proportion. */
const transfersOf = (
  moves: ReadonlyArray<Move>,
  carrier: Position,
  mostRaw: bigint,
  views: ReadonlyMap<ChainId, ChainView>,
  terms: TransferTerms
): ReadonlyArray<Transfer> => {
  const rawOf = (usd: bigint) => (usd * carrier.scale) / carrier.priceUsd
  const wantedRaw = moves.reduce((sum, { usd }) => sum + rawOf(usd), 0n)
  if (wantedRaw === 0n || mostRaw <= 0n) return []
  return moves.flatMap(({ from, to, usd }) => {
    const destination = carrierOf(views.get(to)!, terms)!
    const amountRaw = wantedRaw <= mostRaw ? rawOf(usd) : (rawOf(usd) * mostRaw) / wantedRaw
    if (amountRaw <= 0n) return []
    const kept = whole - BigInt(terms.feeBps)
    const expectedRaw =
      (amountRaw * carrier.priceUsd * kept * destination.scale) / (carrier.scale * whole * destination.priceUsd)
    const valueUsd = (amountRaw * carrier.priceUsd) / carrier.scale
    if (expectedRaw <= 0n || valueUsd * leastPart < usd) return []
    return [
      {
        fromChainId: from,
        toChainId: to,
        sell: carrier.assetId,
        buy: destination.assetId,
        amountRaw,
        valueUsd,
        expectedRaw
      }
    ]
  })
}

/** Restores the weights that the chain has in the allocation. */
const withWeightsOf = (view: ChainView, chainPlan: ChainPlan): ChainPlan => {
  const weights = new Map(view.positions.map(({ assetId, weight }) => [assetId, Number(weight)]))
  return {
    ...chainPlan,
    valueUsd: view.valueUsd,
    weight: Number(view.weight),
    targets: chainPlan.targets.map((target) => ({ ...target, weight: weights.get(target.assetId) ?? target.weight }))
  }
}

export const planAround = (
  view: ChainView,
  views: ReadonlyMap<ChainId, ChainView>,
  moves: ReadonlyArray<Move>,
  { cost, terms, thresholdUsd }: Surroundings
): ChainPlan => {
  const carrier = terms === undefined ? undefined : carrierOf(view, terms)
  const outgoing = moves.filter(({ from }) => from === view.chainId)
  const comingUsd = moves.reduce((sum, { to, usd }) => sum + (to === view.chainId ? usd : 0n), 0n)
  if (terms === undefined || carrier === undefined || (outgoing.length === 0 && comingUsd === 0n)) {
    return planChain(view, thresholdUsd, cost)
  }
  if (outgoing.length === 0) {
    const arrivingUsd = (comingUsd * (whole - BigInt(terms.feeBps))) / whole
    return withWeightsOf(view, planChain(expecting(view, carrier, arrivingUsd), thresholdUsd, cost))
  }
  const { staying, view: around } = sending(
    view,
    carrier,
    outgoing.reduce((sum, { usd }) => sum + usd, 0n)
  )
  const chainPlan = planChain(around, thresholdUsd, cost)
  const targetUsd = chainPlan.targets.find(({ assetId }) => assetId === carrier.assetId)?.targetUsd ?? 0n
  const stayingUsd = staying.whole === 0n ? 0n : (targetUsd * staying.part) / staying.whole
  const stayingRaw = (stayingUsd * carrier.scale) / carrier.priceUsd
  const transfers = transfersOf(outgoing, carrier, leftOf(carrier, chainPlan.legs) - stayingRaw, views, terms)
  return { ...withWeightsOf(view, chainPlan), transfers }
}
