/** Messages between the command and its workers. */
import type { SimulationEnd } from "#test/simulation/Simulation.ts"

export interface Request {
  readonly seed: number
}

/** An end as a message: maps as entries. */
export type Answer = Omit<SimulationEnd, "counts" | "outcomes" | "checked"> & {
  readonly counts: ReadonlyArray<readonly [string, number]>
  readonly outcomes: ReadonlyArray<readonly [string, number]>
  readonly checked: ReadonlyArray<readonly [string, number]>
}

export const answerOf = (end: SimulationEnd): Answer => ({
  ...end,
  counts: [...end.counts],
  outcomes: [...end.outcomes],
  checked: [...end.checked]
})

export const endOf = (answer: Answer): SimulationEnd => ({
  ...answer,
  counts: new Map(answer.counts),
  outcomes: new Map(answer.outcomes),
  checked: new Map(answer.checked)
})
