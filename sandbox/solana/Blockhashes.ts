/** The blockhashes by which transactions expire. litesvm knows its newest one alone, so the last ones are kept here. */
import type { LiteSVM, SlotHash } from "litesvm"

/** Blocks for which a blockhash is good. */
const validBlocks = 150n
/** Length of the chain's own list of slot hashes. */
const slotHashLimit = 512

export interface LatestBlockhash {
  readonly blockhash: string
  /** The last height of a block that may include a transaction with it. */
  readonly lastValidBlockHeight: bigint
}

export class Blockhashes {
  readonly #svm: LiteSVM
  readonly #validUntil = new Map<string, bigint>()
  readonly #slotHashes: Array<SlotHash> = []
  #height = 0n

  constructor(svm: LiteSVM) {
    this.#svm = svm
  }

  get latest(): LatestBlockhash {
    const blockhash = this.#svm.latestBlockhash()
    return { blockhash, lastValidBlockHeight: this.#validUntil.get(blockhash) ?? this.#height + validBlocks }
  }

  isValid(blockhash: string): boolean {
    const until = this.#validUntil.get(blockhash)
    return until !== undefined && until >= this.#height
  }

  /** Begins the block of that height with a new hash. */
  next(height: bigint): void {
    this.#height = height
    this.#svm.expireBlockhash()
    const [entry] = this.#svm.getSlotHashes()
    if (entry !== undefined) {
      entry.slot = height - 1n
      entry.hash = this.#svm.latestBlockhash()
      this.#slotHashes.unshift(entry)
      if (this.#slotHashes.length > slotHashLimit) this.#slotHashes.pop()
    }
    this.#validUntil.set(this.#svm.latestBlockhash(), height + validBlocks)
    for (const [hash, until] of this.#validUntil) {
      if (until >= height) break
      this.#validUntil.delete(hash)
    }
  }

  /** Shows the last hashes to programs: lookup tables are created by a recent slot and its hash. */
  publish(): void {
    this.#svm.setSlotHashes(this.#slotHashes)
  }
}
