/**
 * Draws what rules cost against how far they let a portfolio drift, as SVG: one panel a cost level, both axes
 * logarithmic.
 */
import type { CostLevel, Outcome } from "#bench/policies/simulate.ts"

export interface Panel {
  readonly level: CostLevel
  /** Outcomes of the service's policy at several risk aversions. */
  readonly frontier: ReadonlyArray<Outcome>
  readonly peers: ReadonlyArray<{ readonly name: string; readonly outcome: Outcome }>
}

const width = 360
const height = 300
const margin = { left: 52, right: 12, top: 34, bottom: 40 }
const legendLine = 18
const colours = ["#b3261e", "#e8710a", "#7b5ea7", "#00838f", "#5d4037", "#37474f"] as const

const scale = (values: ReadonlyArray<number>, from: number, to: number) => {
  const [least, most] = [Math.log(Math.min(...values)) - 0.15, Math.log(Math.max(...values)) + 0.15]
  return (value: number) => from + ((Math.log(value) - least) / (most - least)) * (to - from)
}

const ticksWithin = (values: ReadonlyArray<number>): ReadonlyArray<number> =>
  [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000].filter(
    (tick) => tick >= Math.min(...values) * 0.9 && tick <= Math.max(...values) * 1.1
  )

interface TextStyle {
  readonly anchor?: "middle" | "start" | "end"
  readonly size?: number
}

const text = ([x, y]: readonly [number, number], content: string, { anchor = "middle", size = 11 }: TextStyle = {}) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}">${content}</text>`

const panelOf = ({ frontier, level, peers }: Panel, left: number): string => {
  const all = [...frontier, ...peers.map(({ outcome }) => outcome)]
  const errors = all.map(({ error }) => error * 100)
  const costs = all.map(({ costBps }) => costBps)
  const x = scale(errors, left + margin.left, left + width - margin.right)
  const y = scale(costs, height - margin.bottom, margin.top)
  const grid = [
    ...ticksWithin(errors).map(
      (tick) =>
        `<path d="M${x(tick).toFixed(1)} ${margin.top}V${height - margin.bottom}" stroke="#ddd"/>` +
        text([x(tick), height - margin.bottom + 14], `${tick} %`)
    ),
    ...ticksWithin(costs).map(
      (tick) =>
        `<path d="M${left + margin.left} ${y(tick).toFixed(1)}H${left + width - margin.right}" stroke="#ddd"/>` +
        text([left + margin.left - 5, y(tick) + 4], String(tick), { anchor: "end" })
    )
  ]
  const line = frontier
    .toSorted((a, b) => a.error - b.error)
    .map(({ costBps, error }, at) => `${at === 0 ? "M" : "L"}${x(error * 100).toFixed(1)} ${y(costBps).toFixed(1)}`)
    .join("")
  const points = peers.map(
    ({ outcome }, at) =>
      `<circle cx="${x(outcome.error * 100).toFixed(1)}" cy="${y(outcome.costBps).toFixed(1)}" r="5" fill="${colours[at % colours.length]}"/>`
  )
  return [
    ...grid,
    `<path d="${line}" fill="none" stroke="#1a73e8" stroke-width="2.5"/>`,
    ...points,
    text([left + width / 2, 18], `${level.feeBps} bps and $${level.gasUsd.toFixed(2)} a swap`, {
      anchor: "middle",
      size: 13
    })
  ].join("\n")
}

export const drawFrontier = (panels: ReadonlyArray<Panel>): string => {
  const names = panels[0]?.peers.map(({ name }) => name) ?? []
  const total = { width: width * panels.length, height: height + 24 + legendLine * (names.length + 1) }
  const legend = names.map(
    (name, at) =>
      `<circle cx="24" cy="${height + 20 + legendLine * (at + 1)}" r="5" fill="${colours[at % colours.length]}"/>` +
      text([38, height + 24 + legendLine * (at + 1)], name, { anchor: "start", size: 12 })
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total.width} ${total.height}" font-family="sans-serif" fill="#222">`,
    `<rect width="${total.width}" height="${total.height}" fill="#fff"/>`,
    ...panels.map((panel, at) => panelOf(panel, at * width)),
    text([total.width / 2, height - 6], "root mean square deviation of a weight; upwards: cost in basis points a year"),
    `<path d="M14 ${height + 20}h20" stroke="#1a73e8" stroke-width="2.5"/>`,
    text([38, height + 24], "Ballast, automatic bands from low to high risk aversion, checked hourly", {
      anchor: "start",
      size: 12
    }),
    ...legend,
    "</svg>",
    ""
  ].join("\n")
}
