/** How a transfer ended, by what the chains show; pure. */
import type { AssetId } from "#domain/Caip.ts"
import type { RouteStatus } from "#domain/routing/Routing.ts"
import type { Arrival } from "#domain/transfer/Arrivals.ts"
import type { Transfer, TransferEnd } from "#domain/transfer/Transfer.ts"

type Received = NonNullable<TransferEnd["received"]>

const largest = ({ blockNumber, deltas }: Arrival, txHash: string): Received | null => {
  const [first] = deltas.filter(({ raw }) => raw > 0n).toSorted((a, b) => (a.raw < b.raw ? 1 : -1))
  return first === undefined ? null : { ...first, txHash, blockNumber }
}

const of = ({ blockNumber, deltas }: Arrival, assetId: AssetId, txHash: string): Received | null => {
  const raw = deltas.find((delta) => delta.assetId === assetId)?.raw ?? 0n
  return raw > 0n ? { assetId, raw, txHash, blockNumber } : null
}

/**
 * The end that a final status and the transaction it names prove together; undefined when the chain does not bear it
 * out: then the transfer stays open.
 */
export const transferEnd = (
  transfer: Transfer,
  status: Exclude<RouteStatus, { readonly _tag: "Pending" | "Failed" }>,
  arrival: Arrival
): TransferEnd | undefined => {
  const { txHash } = status
  // What took the amount cannot have brought it: a swap of its batch may have bought more of the token than left.
  if (!arrival.success || txHash === transfer.txHash) return undefined
  if (status._tag === "Refunded") {
    const received = of(arrival, transfer.sell, txHash)
    if (received === null) return undefined
    return { state: "refunded", received, reason: "the bridge gave the amount back on the chain it came from" }
  }
  const wanted = of(arrival, transfer.buy, txHash)
  if (wanted !== null && wanted.raw >= transfer.leastRaw) return { state: "delivered", received: wanted, reason: null }
  const received = wanted ?? largest(arrival, txHash)
  if (received === null) return undefined
  const reason =
    wanted === null ? "the bridge delivered another token" : `the bridge delivered less than ${transfer.leastRaw}`
  return { state: "partial", received, reason }
}
