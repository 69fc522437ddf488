/**
 * What one side of a chain still has to trade, largest first.
 *
 * It belongs to the pass that made it, which replaces an entry by what a leg leaves of it; entries never change.
 */
import type { Imbalance } from "#domain/planning/legs/imbalances.ts"

/** Equal amounts are in the order of their ids, so that the order of the input decides nothing. */
const byOpenValue = (a: Imbalance, b: Imbalance): number => {
  if (a.openUsd > b.openUsd) return -1
  if (a.openUsd < b.openUsd) return 1
  return a.position.assetId < b.position.assetId ? -1 : 1
}

export class SortedSide<Entry extends Imbalance> {
  readonly #entries: Array<Entry>

  constructor(entries: ReadonlyArray<Entry>) {
    this.#entries = entries.toSorted(byOpenValue)
  }

  /** Largest first. */
  get entries(): ReadonlyArray<Entry> {
    return this.#entries
  }

  get largest(): Entry | undefined {
    return this.#entries[0]
  }

  /** Where an entry stands that is on the side. */
  indexOf(entry: Entry): number {
    return this.#entries.indexOf(entry, this.#firstWithin(entry.openUsd, 0))
  }

  /** Where an amount stands that differs from `usd` by no more than `marginUsd`; -1 when nowhere. */
  indexOfEqual(usd: bigint, marginUsd: bigint): number {
    const at = this.#firstWithin(usd + marginUsd, 0)
    return at < this.#entries.length && this.#entries[at]!.openUsd >= usd - marginUsd ? at : -1
  }

  /** Puts a smaller amount in the place of the entry at `index`, in its order; none: the entry is dropped. */
  replace(index: number, smaller: Entry | undefined): void {
    const entries = this.#entries
    if (smaller === undefined) {
      entries.splice(index, 1)
      return
    }
    const end = this.#firstWithin(smaller.openUsd, index + 1)
    for (let at = index; at < end - 1; at += 1) entries[at] = entries[at + 1]!
    entries[end - 1] = smaller
  }

  /** Where the first amount stands, from `from` on, that is at most `maxUsd`. */
  #firstWithin(maxUsd: bigint, from: number): number {
    let low = from
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#entries[middle]!.openUsd > maxUsd) low = middle + 1
      else high = middle
    }
    return low
  }
}
