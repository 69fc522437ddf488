/** What a node stores of transactions that landed. */
import type { Outcome } from "#sandbox/solana/Outcome.ts"

export interface Landed extends Outcome {
  readonly slot: bigint
  /** The block's time, in seconds. */
  readonly time: bigint
  readonly bytes: Uint8Array
}

/** A node's own cache covers about these slots; older ones take a search of the history. */
const cachedSlots = 300n
const historyLimit = 50_000

export class Statuses {
  readonly #landed = new Map<string, Landed>()

  has(signature: string): boolean {
    return this.#landed.has(signature)
  }

  add(signature: string, landed: Landed): void {
    this.#landed.set(signature, landed)
    if (this.#landed.size > historyLimit) this.#landed.delete(this.#landed.keys().next().value!)
  }

  /** What the node says at a slot; what has left its cache only when it is asked to search. */
  find(signature: string, slot: bigint, searchHistory: boolean): Landed | undefined {
    const landed = this.#landed.get(signature)
    if (landed === undefined || (!searchHistory && slot - landed.slot > cachedSlots)) return undefined
    return landed
  }
}
