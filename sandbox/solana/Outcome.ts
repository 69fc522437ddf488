import type { TransactionMetadata } from "litesvm"
import type { TransactionError } from "#sandbox/solana/errorNames.ts"

/** What became of a transaction, or would become of it. */
export interface Outcome {
  readonly error: TransactionError | null
  readonly logs: ReadonlyArray<string>
  /** Compute units. */
  readonly units: bigint
}

export const nothing: Outcome = { error: null, logs: [], units: 0n }

export const failed = (error: TransactionError): Outcome => ({ error, logs: [], units: 0n })

export const outcomeOf = (meta: TransactionMetadata, error: TransactionError | null): Outcome => ({
  error,
  logs: meta.logs(),
  units: meta.computeUnitsConsumed()
})

/** The index of the account whose rent was spent, where that is the error. */
export const rentSpentAt = (error: TransactionError | null): number | undefined => {
  if (error === null || typeof error === "string" || !("InsufficientFundsForRent" in error)) return undefined
  return (error["InsufficientFundsForRent"] as { readonly account_index: number }).account_index
}

/** The error of an expansion, at the instruction of the transaction that it came from. */
export const atOrigins = (outcome: Outcome, origins: ReadonlyArray<number>): Outcome => {
  const { error } = outcome
  if (error === null || typeof error === "string" || !("InstructionError" in error)) return outcome
  const [index, cause] = error["InstructionError"] as readonly [number, unknown]
  return { ...outcome, error: { InstructionError: [origins[index] ?? index, cause] } }
}
