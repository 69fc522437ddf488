import type { TransactionError } from "#sandbox/solana/errorNames.ts"

/** What became of a transaction, or would become of it. */
export interface Outcome {
  readonly error: TransactionError | null
  readonly logs: ReadonlyArray<string>
  /** Compute units. */
  readonly units: bigint
}
