/** Lines of a table: a name, then minimum, median and maximum. */
import type { Spread } from "#bench/http/spread.ts"

const line = (name: string, texts: ReadonlyArray<string>): string =>
  `  ${name.padEnd(48)}${texts.map((text) => text.padStart(12)).join("")}`

export const spreadHeading = line("", ["min", "median", "max"])

export const spreadLine = (name: string, { max, median, min }: Spread, digits = 0): string =>
  line(
    name,
    [min, median, max].map((value) => value.toFixed(digits))
  )
