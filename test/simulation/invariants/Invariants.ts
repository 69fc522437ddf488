/**
 * What must hold after every step of a simulation between the chains, which have what happened, and the database,
 * which has what the service stored. Each check compares what changed since the check before.
 */
import type { SqlConnection } from "effect/sql"
import { isTerminal, type OperationState } from "#domain/operation/Operation.ts"
import { checkLedger } from "#test/simulation/invariants/ledger.ts"
import { checkMoney } from "#test/simulation/invariants/money.ts"
import { checkOperations } from "#test/simulation/invariants/operations.ts"
import { checkRelays } from "#test/simulation/invariants/relays.ts"
import { checkSchedules } from "#test/simulation/invariants/schedules.ts"
import type { Observation, Seen } from "#test/simulation/invariants/Observation.ts"
import { InvariantBroken } from "#test/simulation/invariants/InvariantBroken.ts"
import { readIdleUntil, readSnapshot, type Snapshot } from "#test/simulation/invariants/Snapshot.ts"
import { checkWithdrawals } from "#test/simulation/invariants/withdrawals.ts"
import type { World } from "#test/simulation/world/World.ts"

/** A statement's time may be that long ago when it commits, since processes stand still at times. */
const lateMs = 900_000

export class Invariants {
  readonly #connection: SqlConnection.Connection
  readonly #world: World
  #checkedAt = 0
  /** How often each was checked. */
  readonly checked = new Map<string, number>()
  readonly seen: Seen = {
    operations: new Map(),
    relayed: new Map(),
    byActionHash: new Map(),
    signed: new Set(),
    transfers: new Map(),
    withdrawals: new Map(),
    schedules: new Map()
  }

  constructor(connection: SqlConnection.Connection, world: World) {
    this.#connection = connection
    this.#world = world
  }

  /** Must not be called while a transaction is open. */
  async check(): Promise<Snapshot> {
    const { now } = this.#world.harness
    const snapshot = await readSnapshot(this.#connection, this.#checkedAt - lateMs)
    this.#checkedAt = now
    const observation: Observation = { world: this.#world, seen: this.seen, snapshot, now, require: this.require }
    checkSchedules(observation)
    checkOperations(observation)
    checkRelays(observation)
    checkLedger(observation)
    checkWithdrawals(observation)
    checkMoney(observation)
    return snapshot
  }

  /** Checks, after each turn, that what is sent was committed by then, hence seen. */
  checkSent(): void {
    for (const { actionHash, isHeld } of this.#world.signatures.splice(0))
      this.require("no transaction of the database is open while a key signs", !isHeld, () => actionHash)
    for (const hash of this.#world.sent.splice(0))
      this.require("only what is stored is sent", this.seen.signed.has(hash), () => `${hash} is not in the database`)
  }

  /** Operations that have ended. */
  get ended(): ReadonlyArray<{ readonly kind: string; readonly state: string }> {
    return [...this.seen.operations.values()].filter(({ state }) => isTerminal(state as OperationState))
  }

  /** Reads until when nothing is due while nothing is under way; 0 when something is. */
  idleUntil(): Promise<number> {
    return readIdleUntil(this.#connection)
  }

  readonly require: Observation["require"] = (invariant, holds, detail) => {
    this.checked.set(invariant, (this.checked.get(invariant) ?? 0) + 1)
    if (!holds) throw new InvariantBroken(invariant, detail())
  }
}
