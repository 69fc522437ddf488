/**
 * What left a chain is announced or in the ledger from the first moment, as the chain shows it, and ends as it ended.
 */
import type { Observation } from "#test/simulation/invariants/Observation.ts"
import type { TransferRow } from "#test/simulation/invariants/Snapshot.ts"

const keyOf = ({ position, txHash }: TransferRow) => `${txHash} ${position}`

const endOf: Readonly<Record<string, string>> = {
  delivered: "delivered",
  late: "delivered",
  partial: "partial",
  refunded: "refunded"
}

const checkEnd = ({ require, world }: Observation, row: TransferRow): void => {
  const included = world.bridge.all.filter(({ sourceTx }) => sourceTx === row.txHash)[row.position]
  require("a closed entry says how the transfer ended", included !== undefined &&
    included.ended &&
    endOf[included.fate] === row.state &&
    row.received?.raw === included.raw.toString() &&
    row.received.assetId === included.assetId, () =>
    `${row.operation} is ${row.state} with ${row.received?.raw}; the bridge: ${included?.fate} ${included?.raw}, ended: ${included?.ended}`)
}

export const checkLedger = (observation: Observation): void => {
  const { require, seen, snapshot, world } = observation
  for (const row of snapshot.transfers) {
    const before = seen.transfers.get(keyOf(row))
    require("an entry is closed once", before === undefined ||
      before.state === "open" ||
      before.state === row.state, () => `${row.operation} was ${before?.state} and is ${row.state}`)
    require("a transfer has one entry", before === undefined || before.operation === row.operation, () =>
      `${keyOf(row)} has ${before?.operation} and ${row.operation}`)
    if (row.state !== "open" && before?.state !== row.state) checkEnd(observation, row)
    seen.transfers.set(keyOf(row), row)
  }
  const announced = new Set(snapshot.announced)
  for (const chain of world.chains.values())
    for (const { execution, txHash } of chain.inclusions) {
      const left = execution.parts.flatMap(({ actionHash, transfers }) =>
        transfers.map((one) => ({ ...one, actionHash }))
      )
      for (const [position, { actionHash, amountRaw, sell }] of left.entries()) {
        const entry = seen.transfers.get(`${txHash} ${position}`)
        require("what left a chain is announced or in the ledger", entry === undefined
          ? announced.has(actionHash)
          : entry.amount === amountRaw.toString() && entry.sell === sell, () =>
          `${amountRaw} of ${sell} left in ${txHash}; the ledger has ${entry?.amount ?? "nothing"}`)
      }
    }
}
