/**
 * The plans of all chains of which something is known, around the moves between them.
 */
import type { ChainId } from "#domain/values/Caip.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import type { ChainPlan, TransferLeg, TransferTerms } from "#domain/planning/Plan.ts"
import { planReceiver, planSender } from "#domain/planning/transfers/planAround.ts"
import { planChain, type PlanParameters } from "#domain/planning/planChain.ts"
import type { Move } from "#domain/planning/transfers/planTransfers.ts"

export interface PlannedChains {
  readonly plans: ReadonlyMap<ChainId, ChainPlan>
  readonly transfers: ReadonlyArray<TransferLeg>
}

const isMade = (transfers: ReadonlyArray<TransferLeg>, { from, to }: Move): boolean =>
  transfers.some(({ fromChainId, toChainId }) => fromChainId === from && toChainId === to)

/**
 * Plans the sending chains first, then the others around what those really send. A move that a sender cannot make is
 * dropped, and all are planned again without it: at most one round more than there are moves.
 */
export const planChains = (
  views: ReadonlyMap<ChainId, ChainView>,
  { moves, terms }: { readonly moves: ReadonlyArray<Move>; readonly terms: TransferTerms | undefined },
  parameters: PlanParameters
): PlannedChains => {
  const alone = (view: ChainView) => planChain(view, parameters)
  if (terms === undefined || moves.length === 0) {
    return { plans: new Map([...views].map(([chainId, view]) => [chainId, alone(view)])), transfers: [] }
  }
  const connections = { ...parameters, views, terms }
  const senders = new Map(
    [...Map.groupBy(moves, ({ from }) => from)].map(([from, outgoing]) => [
      from,
      planSender(views.get(from)!, outgoing, connections)
    ])
  )
  const transfers = [...senders.values()].flatMap((chainPlan) => chainPlan.transfers)
  const made = moves.filter((move) => isMade(transfers, move))
  if (made.length < moves.length) return planChains(views, { moves: made, terms }, parameters)
  const planOf = (view: ChainView): ChainPlan => {
    const incoming = transfers.filter(({ toChainId }) => toChainId === view.chainId)
    return (
      senders.get(view.chainId) ?? (incoming.length === 0 ? alone(view) : planReceiver(view, incoming, connections))
    )
  }
  return { plans: new Map([...views].map(([chainId, view]) => [chainId, planOf(view)])), transfers }
}
