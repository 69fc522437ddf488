/**
 * What a transaction and all of its replacements may offer for a unit of gas, from what each action that it includes
 * may cost; pure. What has no ceiling of its own, as what an owner signed, sets none.
 */
import { type CostCeilings, maxDataFee, type PreparedTransaction } from "#domain/relay/Transaction.ts"

type Costs = Pick<PreparedTransaction, "gasLimit" | "maxFeePerGas" | "dataFee"> & CostCeilings

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

const sumOf = (items: ReadonlyArray<Costs>, of: (item: Costs) => bigint): bigint =>
  items.reduce((sum, item) => sum + of(item), 0n)

/** Wei for a unit of gas, so that gas and data cost no more than so much. */
export const feeWithin = (native: bigint, costs: Pick<Costs, "gasLimit" | "dataFee">): bigint =>
  larger(0n, native - maxDataFee(costs)) / costs.gasLimit

/** The lowest of the members' ceilings, and what the whole may cost by the most modest of them; null without any. */
const lowest = (actions: ReadonlyArray<Costs>): bigint | null => {
  const gasLimit = sumOf(actions, (action) => action.gasLimit)
  const dataFee = sumOf(actions, (action) => action.dataFee ?? 0n)
  const ceilings = actions.flatMap(({ costCeiling, feeCeiling }) => [
    ...(feeCeiling === undefined ? [] : [feeCeiling]),
    ...(costCeiling === undefined ? [] : [feeWithin(costCeiling, { gasLimit, dataFee })])
  ])
  return ceilings.length === 0 ? null : ceilings.reduce(smaller)
}

/** A transaction offers what the dearest of its members offers. */
const offeredBy = (actions: ReadonlyArray<Costs>): bigint =>
  actions.reduce((most, { maxFeePerGas }) => larger(most, maxFeePerGas), 0n)

/** Whether actions may share a transaction by what each of them and the whole may cost. */
export const mayShareFees = (actions: ReadonlyArray<Costs>): boolean => {
  const ceiling = lowest(actions)
  return ceiling === null || offeredBy(actions) <= ceiling
}

/**
 * Ceiling of a transaction that is signed now, never less than it offers; null where nothing but the chain's ceiling
 * holds.
 */
export const feeCeilingOf = (actions: ReadonlyArray<Costs>): bigint | null => {
  const ceiling = lowest(actions)
  return ceiling === null ? null : larger(ceiling, offeredBy(actions))
}
