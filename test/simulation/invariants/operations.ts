/** Operations move forward along their lifecycle, and their events have no gap. */
import { isTerminal, type OperationState, sourcesOf } from "#domain/operation/Operation.ts"
import type { Observation } from "#test/simulation/invariants/Observation.ts"

export const checkOperations = ({ require, seen, snapshot }: Observation): void => {
  const unfinished = new Set<string>()
  for (const { events, id, kind, last, portfolio, state } of snapshot.operations) {
    require("event sequences have no gap", events.length === last &&
      events.every(({ n }, index) => n === index + 1), () =>
      `${id} has last_sequence ${last} and events ${events.map(({ n }) => n).join(",")}`)
    const states = events.flatMap(({ kind, state }) => (kind === "state" ? [state as OperationState] : []))
    require("states only move along the lifecycle", states[0] === "accepted" &&
      states.slice(1).every((to, index) => sourcesOf(to).includes(states[index]!)) &&
      states.at(-1) === state, () => `${id} is ${state} after ${states.join(", ")}`)
    const before = seen.operations.get(id)
    require("what is finished stays as it is", before === undefined ||
      !isTerminal(before.state as OperationState) ||
      before.state === state, () => `${id} was ${before?.state} and is ${state}`)
    require("events are only added", before === undefined || before.events <= events.length, () =>
      `${id} had ${before?.events} events and has ${events.length}`)
    seen.operations.set(id, { state, events: events.length, portfolio, kind })
    // A run that only waits for the owner is none that a portfolio may have one of.
    if (kind !== "rebalance" || isTerminal(state as OperationState) || state === "awaiting_user") continue
    require("a portfolio has one run at a time", !unfinished.has(portfolio), () => `${portfolio} has two, one is ${id}`)
    unfinished.add(portfolio)
  }
}
