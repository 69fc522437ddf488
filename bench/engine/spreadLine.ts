/** One line of a table: a name, then least, median and most. */
import type { Spread } from "#bench/http/spread.ts"

export const spreadLine = (name: string, cells: Spread | ReadonlyArray<string>, digits = 0): string => {
  const texts = "median" in cells ? [cells.min, cells.median, cells.max].map((value) => value.toFixed(digits)) : cells
  return `  ${name.padEnd(48)}${texts.map((text) => text.padStart(12)).join("")}`
}
