/** The output of the demo: steps with their time, and a table of positions with a bar for each weight. */
import { styleText } from "node:util"
import { Console, Duration, Effect } from "effect"

// Colors go to terminals alone: `styleText` leaves them out of pipes and files, and where NO_COLOR is set.
const bold = (text: string) => styleText("bold", text)
const dim = (text: string) => styleText("dim", text)
const green = (text: string) => styleText("green", text)
const yellow = (text: string) => styleText("yellow", text)

export const title = (text: string) => Console.log(`\n${bold(text)}`)
export const line = (text: string) => Console.log(`  ${text}`)

/** Runs a step and prints how long it took and what came of it. */
export const step = <A, E, R>(
  name: string,
  effect: Effect.Effect<A, E, R>,
  describe: (value: A) => string = () => ""
) =>
  Effect.gen(function* () {
    const [took, value] = yield* Effect.timed(effect)
    yield* line(
      `${green("✓")} ${name.padEnd(44)} ${dim(Duration.format(Duration.millis(Math.round(Duration.toMillis(took)))).padStart(9))}  ${describe(value)}`
    )
    return value
  })

export interface WeightRow {
  readonly chainId: number
  readonly symbol: string
  readonly balance: string
  readonly valueUsd: number
  /** Percent of the chain's value. */
  readonly weight: number
  /** Percent of the chain's value that the strategy targets. */
  readonly target: number
}

const width = 24
const bar = ({ weight, target }: WeightRow) => {
  const at = (percent: number) => Math.round((percent / 100) * width)
  const cells = Array.from({ length: width }, (_, i) => (i === at(target) ? "│" : i < at(weight) ? "█" : "·"))
  return cells.join("")
}

/** One line an asset: balance, value, weight within its chain against the target, and the two drawn. */
export const table = Effect.fnUntraced(function* (rows: ReadonlyArray<WeightRow>, tolerance: number) {
  yield* line(dim("chain   asset          balance         value     weight    target"))
  for (const row of rows) {
    const isOnTarget = Math.abs(row.weight - row.target) <= tolerance
    const numbers = [
      String(row.chainId).padEnd(7),
      row.symbol.padEnd(6),
      row.balance.slice(0, 14).padStart(15),
      `$${row.valueUsd.toFixed(2)}`.padStart(13),
      `${row.weight.toFixed(2)}%`.padStart(10),
      `${row.target.toFixed(2)}%`.padStart(9)
    ]
    yield* line(`${numbers.join(" ")}  ${bar(row)} ${isOnTarget ? green("on target") : yellow("off target")}`)
  }
  return rows.every((row) => Math.abs(row.weight - row.target) <= tolerance)
})
