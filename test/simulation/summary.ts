/** What simulations say of themselves when they end. */
import type { SimulationEnd } from "#test/simulation/Simulation.ts"

const hours = (ms: number): string => `${(ms / 3_600_000).toFixed(1)} h`

/** What is needed to investigate a failure. */
export const describeFailure = ({ failure, latest, seed, virtualMs }: SimulationEnd): string =>
  [
    `Seed ${seed} failed after ${hours(virtualMs)} of virtual time: ${failure?.invariant}`,
    `  ${failure?.detail}`,
    "  The last that happened:",
    ...latest.map((line) => `    ${line}`),
    `  To repeat it: npm run simulate -- --seed ${seed} --trace`
  ].join("\n")

const total = (ends: ReadonlyArray<SimulationEnd>, of: (end: SimulationEnd) => ReadonlyMap<string, number>) => {
  const sums = new Map<string, number>()
  for (const end of ends) for (const [kind, count] of of(end)) sums.set(kind, (sums.get(kind) ?? 0) + count)
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
}

const table = (title: string, rows: ReadonlyArray<readonly [string, number]>): ReadonlyArray<string> => [
  title,
  ...rows.map(([kind, count]) => `  ${String(count).padStart(9)}  ${kind}`)
]

const isFault = (kind: string) => kind.startsWith("fault: ") || kind.startsWith("database: ")

export const summarize = (ends: ReadonlyArray<SimulationEnd>, realMs: number): string => {
  const sum = (of: (end: SimulationEnd) => number) => ends.reduce((whole, end) => whole + of(end), 0)
  const failed = ends.filter(({ failure }) => failure !== null).map(({ seed }) => seed)
  const happened = total(ends, ({ counts }) => counts).map(
    ([kind, count]) =>
      [kind.replace(/^fault: chain \d+ /u, "fault: a chain ").replace(/^chain \d+: /u, "chain: "), count] as const
  )
  const merged = [
    ...new Map(happened.map(([kind]) => [kind, happened.reduce((all, [one, n]) => all + (one === kind ? n : 0), 0)]))
  ]
  return [
    ...table(
      "Faults injected",
      merged.filter(([kind]) => isFault(kind))
    ),
    ...table(
      "What people did",
      merged.filter(([kind]) => kind.startsWith("user: "))
    ),
    ...table(
      "What chains took",
      merged.filter(([kind]) => kind.startsWith("chain: "))
    ),
    ...table(
      "Operations that ended",
      total(ends, ({ outcomes }) => outcomes)
    ),
    ...table(
      "Invariants checked",
      total(ends, ({ checked }) => checked)
    ),
    `${ends.length} seeds in ${(realMs / 1000).toFixed(1)} s: ${hours(sum(({ virtualMs }) => virtualMs))} of virtual time, ` +
      `${sum(({ turns }) => turns)} steps, ${sum(({ statements }) => statements)} statements`,
    failed.length === 0 ? "All invariants held." : `Failed: ${failed.sort((a, b) => a - b).join(", ")}`
  ].join("\n")
}
