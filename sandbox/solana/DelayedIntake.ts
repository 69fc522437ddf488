/** Transactions that a node took and that are lost, or reach a block late. */
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import type { Intake } from "#sandbox/solana/rpcMethods.ts"
import type { Wire } from "#sandbox/solana/Wire.ts"

/** What becomes of the next transaction that is sent. */
export type Fate = "ok" | "dropped" | "late"

const heldLimit = 1_000

export class DelayedIntake implements Intake {
  readonly #ledger: Ledger
  readonly #fate: () => Fate
  readonly #slots: bigint
  readonly #held: Array<{ readonly wire: Wire; readonly due: bigint }> = []

  /** `fate` is asked once for each transaction; late ones land `slots` later, if their blockhash is still good then. */
  constructor(ledger: Ledger, fate: () => Fate, slots = 20n) {
    this.#ledger = ledger
    this.#fate = fate
    this.#slots = slots
  }

  passes(wire: Wire): boolean {
    const fate = this.#fate()
    if (fate === "late" && this.#held.length < heldLimit)
      this.#held.push({ wire, due: this.#ledger.slot + this.#slots })
    return fate === "ok"
  }

  /** Lands what is due; asked after each block. */
  release(): void {
    while (this.#held[0] !== undefined && this.#held[0].due <= this.#ledger.slot) {
      this.#ledger.land(this.#held.shift()!.wire)
    }
  }
}
