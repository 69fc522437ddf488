/**
 * What rebalance policies cost, and how far they let a portfolio drift: the service's planner with automatic bands
 * beside what others do, over 200 seeded quarters of five assets and three cost levels. Writes docs/policies.svg.
 *
 * Each peer is held against the risk aversion at which the service's error is that of the peer, found on a quarter of
 * the paths and then run over all of them; where no band drifts as little, against the exact target with the greatest
 * smallest trade that does; what bands cost as close to that as they come is beside it. `npm run bench -- policies
 * 20` takes fewer paths and writes no picture.
 */
import { writeFileSync } from "node:fs"
import { ballastRule, exactRule } from "#bench/policies/ballastRule.ts"
import { drawFrontier, type Panel } from "#bench/policies/drawFrontier.ts"
import { pathOf } from "#bench/policies/paths.ts"
import { peers } from "#bench/policies/peerRules.ts"
import { type CostLevel, type Outcome, simulate } from "#bench/policies/simulate.ts"
import type { Rule } from "#domain/backtest/followRule.ts"
import { maxRiskAversion } from "#domain/mandate/RebalancePolicy.ts"

const allPaths = 200
const maxTries = 5
const seedOf = (path: number) => 1_000 + path * 77

const levels: ReadonlyArray<CostLevel> = [
  { name: "deep pools", feeBps: 10, gasUsd: 0.02 },
  { name: "Uniswap v2 on a rollup", feeBps: 30, gasUsd: 0.1 },
  { name: "thin pools", feeBps: 100, gasUsd: 1 }
]

const minTradesUsd = [1, 0.25, 0.1, 0.05]
const aversions = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]

const mean = (outcomes: ReadonlyArray<Outcome>): Outcome => {
  const of = (field: (outcome: Outcome) => number) =>
    outcomes.reduce((sum, outcome) => sum + field(outcome), 0) / outcomes.length
  return {
    costBps: of(({ costBps }) => costBps),
    turnover: of(({ turnover }) => turnover),
    legs: of(({ legs }) => legs),
    error: Math.sqrt(of(({ error }) => error ** 2))
  }
}

const over = (seeds: ReadonlyArray<number>, level: CostLevel, make: () => Rule): Outcome =>
  mean(seeds.map((seed) => simulate(pathOf(seed), make(), level)))

const automatic = (riskAversion: number, level: CostLevel) => () => ballastRule({ kind: "auto", riskAversion }, level)

/** The risk aversion whose error is the wanted one, between two of the frontier. */
const aversionFor = (frontier: ReadonlyArray<Outcome>, error: number): number | undefined => {
  const at = frontier.findIndex((outcome) => outcome.error <= error)
  if (at < 0) return undefined
  if (at === 0) return aversions[0]
  const [before, after] = [frontier[at - 1]!, frontier[at]!]
  const part = Math.log(before.error / error) / Math.log(before.error / after.error)
  const found = aversions[at - 1]! * (aversions[at]! / aversions[at - 1]!) ** part
  return Math.ceil(found * 1.02)
}

interface Match {
  readonly setting: string
  readonly outcome: Outcome
}

/** The service over all paths at the lowest risk aversion tried whose error is at most the peer's. */
const withinBands = (
  level: CostLevel,
  seeds: ReadonlyArray<number>,
  { error, first }: { readonly first: number; readonly error: number }
): Match | undefined => {
  let aversion = first
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const outcome = over(seeds, level, automatic(aversion, level))
    if (outcome.error <= error) return { setting: `g = ${aversion}`, outcome }
    aversion = Math.ceil(aversion * Math.max(1.04, (outcome.error / error) ** 4))
  }
  return undefined
}

/** The service without bands, at the highest minimum trade of which the error is at most the peer's. */
const toTarget = (level: CostLevel, seeds: ReadonlyArray<number>, error: number): Match | undefined => {
  for (const minUsd of minTradesUsd) {
    const outcome = over(seeds, level, () => exactRule(minUsd, level))
    if (outcome.error <= error) return { setting: `exact target, minimum trade of $${minUsd}`, outcome }
  }
  return undefined
}

const figures = ({ costBps, error, legs, turnover }: Outcome) =>
  `${costBps.toFixed(1)} | ${(error * 100).toFixed(4)} % | ${turnover.toFixed(2)} | ${legs.toFixed(0)}`

const costOf = ({ outcome: { costBps, error, legs }, setting }: Match) =>
  `**${costBps.toFixed(1)}** (error ${(error * 100).toFixed(4)} %, ${legs.toFixed(0)} swaps, ${setting})`

/** Runs one cost level and prints its rows. */
const panelAt = (level: CostLevel, seeds: ReadonlyArray<number>): Panel => {
  const few = seeds.slice(0, Math.ceil(seeds.length / 4))
  const frontier = aversions.map((aversion) => over(few, level, automatic(aversion, level)))
  console.log(`\n${level.name}: ${level.feeBps} bps and $${level.gasUsd} a swap\n`)
  console.log("| rule | cost, bps a year | error | turnover a year | swaps a year | cost of Ballast at that error |")
  console.log("| --- | --- | --- | --- | --- | --- |")
  const rows = peers.map(({ make, name }) => {
    const outcome = over(seeds, level, make)
    const first = aversionFor(frontier, outcome.error)
    const ours =
      (first === undefined ? undefined : withinBands(level, seeds, { first, error: outcome.error })) ??
      toTarget(level, seeds, outcome.error)
    const cost = ours === undefined ? "its error is out of reach" : costOf(ours)
    console.log(`| ${name} | ${figures(outcome)} | ${cost} |`)
    return { name, outcome }
  })
  const closest = over(seeds, level, automatic(maxRiskAversion, level))
  console.log(`\nThe closest that automatic bands come, g = ${maxRiskAversion}: | ${figures(closest)} |`)
  return { level, frontier, peers: rows }
}

export const run = async (): Promise<void> => {
  const count = Math.min(allPaths, Number(process.argv[3] ?? allPaths))
  if (!Number.isInteger(count) || count < 1) throw new Error("The number of paths is a whole number from 1 to 200")
  const seeds = Array.from({ length: count }, (_, path) => seedOf(path))
  const panels = levels.map((level) => panelAt(level, seeds))
  if (count === allPaths) writeFileSync(new URL("../docs/policies.svg", import.meta.url), drawFrontier(panels))
}
