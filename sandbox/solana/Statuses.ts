/** What a node stores of transactions that landed. */
import type { HeldByAccounts } from "#sandbox/solana/heldByAccounts.ts"
import type { Outcome } from "#sandbox/solana/Outcome.ts"

export interface Landed extends Outcome {
  readonly slot: bigint
  /** The block's time, in seconds. */
  readonly time: bigint
  readonly bytes: Uint8Array
  readonly before: HeldByAccounts
  readonly after: HeldByAccounts
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

  /** Those that name an address, newest first. */
  naming(address: string): ReadonlyArray<readonly [signature: string, landed: Landed]> {
    return [...this.#landed].filter(([, { after }]) => after.keys.includes(address)).toReversed()
  }

  /** What the node says at a slot; what has left its cache only when it is asked to search. */
  find(signature: string, slot: bigint, searchHistory: boolean): Landed | undefined {
    const landed = this.#landed.get(signature)
    if (landed === undefined || (!searchHistory && slot - landed.slot > cachedSlots)) return undefined
    return landed
  }
}
