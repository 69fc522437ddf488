/** The column in which performance windows are stored: `[{window, percentChange, since}]`, percentages as decimals. */
import { Schema } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { type PerformanceWindow, WindowName } from "#domain/performance/PerformanceWindow.ts"
import { Wad } from "#layers/sql/allocationColumns.ts"

export const WindowsColumn = Schema.Array(
  Schema.Struct({ window: WindowName, percentChange: Wad, since: Schema.String })
)

/** Windows as a JSON value for a `jsonb` parameter. */
export const encodeWindows = (windows: ReadonlyArray<PerformanceWindow>) =>
  windows.map(({ percentChange, since, window }) => ({
    window,
    percentChange: Decimal.format(percentChange, 18),
    since
  }))
