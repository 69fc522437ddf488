/** An active schedule always has a due time, is claimed when that has come and not before, and is then due later. */
import type { Observation } from "#test/simulation/invariants/Observation.ts"

/** Longer than any outage of a simulation lasts. */
const claimedWithinMs = 45 * 60_000

export const checkSchedules = ({ now, require, seen, snapshot }: Observation): void => {
  const next = new Map(snapshot.schedules.map((row) => [row.portfolio, row] as const))
  for (const { due, portfolio, status } of snapshot.schedules) {
    require("a schedule always has a due time", due !== null, () => `${portfolio} is ${status} and has none`)
    require("what is due is claimed in time", status !== "active" || due === null || now - due < claimedWithinMs, () =>
      `${portfolio} is due for ${Math.round((now - due!) / 1000)} s`)
  }
  for (const { id, portfolio, submitted, trigger, kind } of snapshot.operations) {
    if (kind !== "rebalance" || trigger !== "scheduled" || seen.operations.has(id)) continue
    const [before, after] = [seen.schedules.get(portfolio), next.get(portfolio)]
    if (before === undefined || after === undefined) continue
    require("a period is run once, and not before it is due", before.status !== "active" ||
      (before.due! <= submitted && after.due! > submitted), () =>
      `${id} was claimed at ${submitted}, due before ${before.due}, after ${after.due}`)
  }
  for (const row of snapshot.schedules) seen.schedules.set(row.portfolio, row)
}
