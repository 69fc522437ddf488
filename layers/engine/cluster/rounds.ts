/** Which of a run's stored steps are rounds of a loop. A name is a stem, a number, and what the engine adds. */
import type { LocalRun } from "#layers/engine/cluster/LocalRun.ts"

const numberOf = (step: string, stem: string): number | undefined => {
  const [, number] = new RegExp(`^(?:DurableClock/)?${stem}/([0-9]+)/`).exec(step) ?? []
  return number === undefined ? undefined : Number(number)
}

const numbers = (run: LocalRun, stem: string) =>
  [...run.steps.keys()].flatMap((step) => {
    const number = numberOf(step, stem)
    return number === undefined ? [] : [{ step, number }]
  })

export const latestRound =
  (run: LocalRun) =>
  (stem: string): number | undefined => {
    const found = numbers(run, stem).map(({ number }) => number)
    return found.length === 0 ? undefined : Math.max(...found)
  }

/** The steps before that one which it makes superfluous. */
export const supersededBy = (run: LocalRun, step: string, stems: ReadonlyArray<string>): ReadonlyArray<string> => {
  const current = stems.map((stem) => numberOf(step, stem)).find((number) => number !== undefined)
  if (current === undefined) return []
  return stems.flatMap((stem) =>
    numbers(run, stem).flatMap((earlier) => (earlier.number < current ? [earlier.step] : []))
  )
}

/** The stored steps once that round is stored and the others are deleted. */
export const afterRound = (
  steps: LocalRun["steps"],
  {
    result,
    step,
    superseded
  }: { readonly step: string; readonly result: string; readonly superseded: ReadonlyArray<string> }
): LocalRun["steps"] => {
  const after = new Map(steps)
  for (const earlier of superseded) after.delete(earlier)
  return after.set(step, result)
}
