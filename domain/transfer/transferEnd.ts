/** How a transfer ended, by what the chains show; pure. */
import type { AssetId } from "#domain/values/Caip.ts"
import type { RouteStatus } from "#domain/trading/Routing.ts"
import type { Arrival } from "#domain/transfer/TransferReceipts.ts"
import type { Transfer, TransferEnd } from "#domain/transfer/Transfer.ts"

type Received = NonNullable<TransferEnd["received"]>

/** What else of a portfolio may lay claim to what a transaction brought. */
export interface Claims {
  /** What closed entries received in it. */
  readonly received: ReadonlyArray<Pick<Received, "assetId" | "raw">>
  /** Entries that are open, the one in question left out. */
  readonly open: ReadonlyArray<Transfer>
}

/** What shows that a transfer has ended. */
export interface TransferEvidence {
  readonly status: Exclude<RouteStatus, { readonly _tag: "Pending" | "Failed" }>
  /** What the transaction that the status names did to the account. */
  readonly arrival: Arrival
  readonly claims: Claims
}

const least = (a: bigint, b: bigint) => (a < b ? a : b)

/**
 * The part of an amount of the wanted token that is the transfer's: all of it, unless it is enough for other open
 * transfers too. Then it keeps what was expected and leaves each of them its minimum amount. Exactly what was expected
 * is its own: most bridges bring what they quoted, and another transfer may be smaller than what slippage allows.
 */
const shareOf = (transfer: Transfer, raw: bigint, open: ReadonlyArray<Transfer>): bigint => {
  if (raw === transfer.expectedRaw) return raw
  const others = open
    .filter(({ buy, receiverId }) => buy === transfer.buy && receiverId === transfer.receiverId)
    .map(({ minRaw }) => minRaw)
    .toSorted((a, b) => (a < b ? -1 : 1))
  const left = others.reduce((sum, other) => (raw - sum - other < transfer.minRaw ? sum : sum + other), 0n)
  return left === 0n ? raw : least(transfer.expectedRaw, raw - left)
}

/**
 * The end that a final status and the transaction it names prove together; undefined when the chain does not bear it
 * out: then the transfer stays open. A transaction closes no more transfers than it brought amounts for.
 */
export const transferEnd = (
  transfer: Transfer,
  { arrival, claims, status }: TransferEvidence
): TransferEnd | undefined => {
  const { blockNumber, deltas, isOwn, success } = arrival
  const { txHash } = status
  // What took the amount, like any batch of the account, cannot have brought it: its swaps bought what it received.
  if (!success || isOwn || txHash === transfer.txHash) return undefined
  const unclaimed = (assetId: AssetId, raw: bigint) =>
    claims.received.reduce((rest, claim) => (claim.assetId === assetId ? rest - claim.raw : rest), raw)
  const brought = deltas
    .map(({ assetId, raw }) => ({ assetId, raw: unclaimed(assetId, raw) }))
    .filter(({ raw }) => raw > 0n)
    .toSorted((a, b) => (a.raw < b.raw ? 1 : -1))
  const of = (wanted: AssetId) => brought.find(({ assetId }) => assetId === wanted)
  const received = (assetId: AssetId, raw: bigint): Received => ({ assetId, raw, txHash, blockNumber })
  if (status._tag === "Refunded") {
    const back = of(transfer.sell)
    return (
      back && {
        state: "refunded",
        received: received(transfer.sell, least(back.raw, transfer.amountRaw)),
        reason: "the bridge gave the amount back on the chain it came from"
      }
    )
  }
  const wanted = of(transfer.buy)
  if (wanted !== undefined && wanted.raw >= transfer.minRaw) {
    const raw = shareOf(transfer, wanted.raw, claims.open)
    return { state: "delivered", received: received(transfer.buy, raw), reason: null }
  }
  const other = wanted ?? brought[0]
  return (
    other && {
      state: "partial",
      received: received(other.assetId, other.raw),
      reason:
        wanted === undefined
          ? "the bridge delivered another token"
          : `the bridge delivered less than ${transfer.minRaw}`
    }
  )
}
