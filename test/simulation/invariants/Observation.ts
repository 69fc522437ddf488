/**
 * What an invariant is checked on: the world, the database as it was last read, and everything that was seen before.
 */
import type {
  RelayedRow,
  ScheduleRow,
  Snapshot,
  TransferRow,
  WithdrawalRow
} from "#test/simulation/invariants/Snapshot.ts"
import type { World } from "#test/simulation/world/World.ts"

/** Everything that was ever seen, the latest of it. */
export interface Seen {
  readonly operations: Map<
    string,
    { readonly state: string; readonly events: number; readonly portfolio: string; readonly kind: string }
  >
  readonly relayed: Map<string, RelayedRow>
  readonly byActionHash: Map<string, RelayedRow>
  /** Hashes of everything that was signed. */
  readonly signed: Set<string>
  readonly transfers: Map<string, TransferRow>
  readonly withdrawals: Map<string, WithdrawalRow>
  readonly schedules: Map<string, ScheduleRow>
}

export interface Observation {
  readonly world: World
  readonly seen: Seen
  readonly snapshot: Snapshot
  readonly now: number
  /** Fails the simulation unless it holds, and counts that it was checked. */
  readonly require: (invariant: string, holds: boolean, detail: () => string) => void
}
