/**
 * The plan for one chain around what leaves it and what comes to it.
 */
import type { ChainId } from "#domain/Caip.ts"
import { expecting, sending } from "#domain/planning/aroundTransfers.ts"
import { carrierOf } from "#domain/planning/carriers.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import type { ChainPlan, Leg, Transfer, TransferTerms } from "#domain/planning/Plan.ts"
import { planChain, type PlanParameters } from "#domain/planning/planChain.ts"
import type { Move } from "#domain/planning/planTransfers.ts"
import { type Position, rawWithin, valueOf } from "#domain/planning/Position.ts"
import { whole } from "#domain/planning/SwapCost.ts"

/** What the legs yield may be less than what was to leave, by the cost of selling; with less than half of it nothing leaves. */
const leastPart = 2n

export interface Connections extends PlanParameters {
  readonly views: ReadonlyMap<ChainId, ChainView>
  readonly terms: TransferTerms
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
  { terms, views }: Connections
): ReadonlyArray<Transfer> => {
  const wantedRaw = moves.reduce((sum, { usd }) => sum + rawWithin(carrier, usd), 0n)
  if (wantedRaw === 0n || mostRaw <= 0n) return []
  return moves.flatMap(({ from, to, usd }) => {
    const destination = carrierOf(views.get(to)!, terms)!
    const moveRaw = rawWithin(carrier, usd)
    const amountRaw = wantedRaw <= mostRaw ? moveRaw : (moveRaw * mostRaw) / wantedRaw
    const kept = whole - BigInt(terms.feeBps)
    const expectedRaw =
      (amountRaw * carrier.priceUsd * kept * destination.scale) / (carrier.scale * whole * destination.priceUsd)
    const valueUsd = valueOf(carrier, amountRaw)
    if (amountRaw <= 0n || expectedRaw <= 0n || valueUsd * leastPart < usd) return []
    const assets = { sell: carrier.assetId, buy: destination.assetId }
    return [{ fromChainId: from, toChainId: to, ...assets, amountRaw, valueUsd, expectedRaw }]
  })
}

/** The plan of a chain that sends. A move for which too little can be sold is not among its transfers. */
export const planSender = (view: ChainView, moves: ReadonlyArray<Move>, connections: Connections): ChainPlan => {
  const { terms } = connections
  const carrier = carrierOf(view, terms)!
  const raw = moves.reduce((sum, { usd }) => sum + rawWithin(carrier, usd), 0n)
  const chainPlan = planChain(view, connections, sending(view, carrier, raw))
  return { ...chainPlan, transfers: transfersOf(moves, carrier, leftOf(carrier, chainPlan.legs), connections) }
}

/** The plan of a chain to which `transfers` are to come. */
export const planReceiver = (
  view: ChainView,
  transfers: ReadonlyArray<Transfer>,
  connections: Connections
): ChainPlan => {
  const raw = transfers.reduce((sum, { expectedRaw }) => sum + expectedRaw, 0n)
  return planChain(view, connections, expecting(view, carrierOf(view, connections.terms)!, raw))
}
