/**
 * A chain as its own plan has to see it when value comes or goes.
 *
 * Weights are any integers in proportion, so a target that is part share and part fixed amount is written as a weight
 * without rounding.
 */
import type { ChainView } from "#domain/rebalance/ChainView.ts"
import type { Position } from "#domain/rebalance/Position.ts"

const weighted = (position: Position, weight: bigint): Position => ({
  ...position,
  weight,
  canBuy: position.obstacle === null && weight > 0n
})

const withPositions = (view: ChainView, positions: ReadonlyArray<Position>): ChainView => ({
  ...view,
  positions,
  valueUsd: positions.reduce((sum, { valueUsd }) => sum + valueUsd, 0n),
  weight: positions.reduce((sum, { weight }) => sum + weight, 0n)
})

/** The chain with `usd` (wad) more of the carrier to come: what is expected is neither bought nor sold meanwhile. */
export const expecting = (view: ChainView, carrier: Position, usd: bigint): ChainView => {
  const raw = (usd * carrier.scale) / carrier.priceUsd
  const balanceRaw = carrier.balanceRaw + raw
  const awaited: Position = {
    ...carrier,
    balanceRaw,
    incomingRaw: carrier.incomingRaw + raw,
    valueUsd: (balanceRaw * carrier.priceUsd) / carrier.scale,
    leftRaw: balanceRaw,
    leftUsd: (balanceRaw * carrier.priceUsd) / carrier.scale
  }
  return withPositions(
    view,
    view.positions.map((position) => (position === carrier ? awaited : position))
  )
}

export interface Sending {
  readonly view: ChainView
  /** The part of the carrier's target that stays on the chain. */
  readonly staying: { readonly part: bigint; readonly whole: bigint }
}

/** A chain with targets: the carrier's target is what leaves and its share of the rest; the others share the rest. */
const sendingShare = (view: ChainView, carrier: Position, usd: bigint): Sending => {
  const rest = view.valueUsd - usd
  const leaving = view.weight * usd
  return {
    view: withPositions(
      view,
      view.positions.map((position) =>
        weighted(position, position.weight * rest + (position === carrier ? leaving : 0n))
      )
    ),
    staying: { part: carrier.weight * rest, whole: carrier.weight * rest + leaving }
  }
}

/** A chain without targets: only what is missing of the carrier is sold for it, from each asset in proportion. */
const sendingAll = (view: ChainView, carrier: Position, usd: bigint): Sending => {
  const needed = usd > carrier.valueUsd ? usd - carrier.valueUsd : 0n
  const isSold = (position: Position) => position !== carrier && position.canSell
  const soldUsd = view.positions.reduce((sum, position) => sum + (isSold(position) ? position.valueUsd : 0n), 0n)
  const target = carrier.valueUsd + needed
  const staying = { part: target - usd, whole: target }
  if (needed === 0n || soldUsd < needed) return { view, staying }
  const weightOf = (position: Position): bigint => {
    if (position === carrier) return target * soldUsd
    return position.valueUsd * (isSold(position) ? soldUsd - needed : soldUsd)
  }
  return {
    view: withPositions(
      view,
      view.positions.map((position) => weighted(position, weightOf(position)))
    ),
    staying
  }
}

/** The chain when `usd` (wad) of its value, at most all of it, is to leave as the carrier. */
export const sending = (view: ChainView, carrier: Position, usd: bigint): Sending =>
  view.weight === 0n ? sendingAll(view, carrier, usd) : sendingShare(view, carrier, usd)
