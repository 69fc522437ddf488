/**
 * The plan for one chain around what leaves it and what comes to it.
 */
import type { ChainId } from "#domain/values/Caip.ts"
import { expecting, sending } from "#domain/planning/transfers/aroundTransfers.ts"
import { bridgeAssetOf } from "#domain/planning/transfers/bridgeAssets.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import type { ChainPlan, Leg, TransferLeg, TransferTerms } from "#domain/planning/Plan.ts"
import { planChain, type PlanParameters } from "#domain/planning/planChain.ts"
import type { Move } from "#domain/planning/transfers/planTransfers.ts"
import { type PlanPosition, rawWithin, valueOf } from "#domain/planning/PlanPosition.ts"
import { whole } from "#domain/planning/SwapCost.ts"

/**
 * What the legs yield may be less than what was to leave, by the cost of selling; with less than half of it nothing
 * leaves.
 */
const minPart = 2n

export interface Connections extends PlanParameters {
  readonly views: ReadonlyMap<ChainId, ChainView>
  readonly terms: TransferTerms
}

/** Raw units of the bridge asset once the legs are done, what has not arrived left out. */
const leftOf = ({ assetId, balanceRaw, incomingRaw }: PlanPosition, legs: ReadonlyArray<Leg>): bigint =>
  legs.reduce(
    (raw, leg) =>
      raw + (leg.buy === assetId ? leg.expectedBuyRaw : 0n) - (leg.sell === assetId ? leg.sellAmountRaw : 0n),
    balanceRaw - incomingRaw
  )

/**
 * The moves in units of the bridge asset; where less is there than is wanted, because selling costs, all are cut in
 * proportion.
 */
const transfersOf = (
  moves: ReadonlyArray<Move>,
  { bridgeAsset, maxRaw }: { readonly bridgeAsset: PlanPosition; readonly maxRaw: bigint },
  { terms, views }: Connections
): ReadonlyArray<TransferLeg> => {
  const wantedRaw = moves.reduce((sum, { usd }) => sum + rawWithin(bridgeAsset, usd), 0n)
  if (wantedRaw === 0n || maxRaw <= 0n) return []
  return moves.flatMap(({ from, to, usd }) => {
    const destination = bridgeAssetOf(views.get(to)!, terms)!
    const moveRaw = rawWithin(bridgeAsset, usd)
    const amountRaw = wantedRaw <= maxRaw ? moveRaw : (moveRaw * maxRaw) / wantedRaw
    const kept = whole - BigInt(terms.feeBps)
    const expectedRaw =
      (amountRaw * bridgeAsset.priceUsd * kept * destination.scale) / (bridgeAsset.scale * whole * destination.priceUsd)
    const valueUsd = valueOf(bridgeAsset, amountRaw)
    if (amountRaw <= 0n || expectedRaw <= 0n || valueUsd * minPart < usd) return []
    const assets = { sell: bridgeAsset.assetId, buy: destination.assetId }
    return [{ fromChainId: from, toChainId: to, ...assets, amountRaw, valueUsd, expectedRaw }]
  })
}

/** The plan of a chain that sends. A move for which too little can be sold is not among its transfers. */
export const planSender = (view: ChainView, moves: ReadonlyArray<Move>, connections: Connections): ChainPlan => {
  const { terms } = connections
  const bridgeAsset = bridgeAssetOf(view, terms)!
  const raw = moves.reduce((sum, { usd }) => sum + rawWithin(bridgeAsset, usd), 0n)
  const chainPlan = planChain(view, connections, sending(view, bridgeAsset, raw))
  const maxRaw = leftOf(bridgeAsset, chainPlan.legs)
  return { ...chainPlan, transfers: transfersOf(moves, { bridgeAsset, maxRaw }, connections) }
}

/** The plan of a chain to which `transfers` are to come. */
export const planReceiver = (
  view: ChainView,
  transfers: ReadonlyArray<TransferLeg>,
  connections: Connections
): ChainPlan => {
  const raw = transfers.reduce((sum, { expectedRaw }) => sum + expectedRaw, 0n)
  return planChain(view, connections, expecting(view, bridgeAssetOf(view, connections.terms)!, raw))
}
