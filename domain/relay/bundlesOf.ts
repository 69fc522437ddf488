/** Which prepared transactions go to the chain as one. */
import { mayShareFees } from "#domain/relay/fees/feeCeilings.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"

/** Bytes of calldata in one transaction: nodes keep none in their pools that is larger than 128 KiB as a whole. */
const maxBytes = 96 * 1024

interface Bundle<T> {
  readonly items: [T, ...Array<T>]
  readonly senders: Set<string>
  gas: bigint
  /** What the most modest of its members lets a shared transaction use. */
  cap: bigint
  bytes: number
}

const bytesOf = ({ callData }: PreparedTransaction): number => (callData.length - 2) / 2

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/**
 * Each item once, each in the first bundle that has room for it, in the order in which they came. The limits of a
 * bundle's members sum up to no more than any of them allows, none offers more for gas than another one is worth, and
 * no account is in it twice, as the second operation of an account is not valid before the first has run. What may not
 * share a transaction is alone.
 */
export const bundlesOf = <T>(
  items: ReadonlyArray<T>,
  transactionOf: (item: T) => PreparedTransaction
): ReadonlyArray<readonly [T, ...ReadonlyArray<T>]> => {
  const bundles: Array<Bundle<T>> = []
  for (const item of items) {
    const transaction = transactionOf(item)
    const { accountId, bundleGas = 0n, chainId, gasLimit } = transaction
    const bytes = bytesOf(transaction)
    const open = bundles.find(
      (bundle) =>
        transactionOf(bundle.items[0]).chainId === chainId &&
        bundle.gas + gasLimit <= smaller(bundle.cap, bundleGas) &&
        bundle.bytes + bytes <= maxBytes &&
        !bundle.senders.has(accountId) &&
        mayShareFees([...bundle.items.map(transactionOf), transaction])
    )
    if (open === undefined) {
      bundles.push({ items: [item], senders: new Set([accountId]), gas: gasLimit, cap: bundleGas, bytes })
      continue
    }
    open.items.push(item)
    open.senders.add(accountId)
    open.gas += gasLimit
    open.cap = smaller(open.cap, bundleGas)
    open.bytes += bytes
  }
  return bundles.map(({ items }) => items)
}
