/** Facts of the checked-in catalogue that are not in the database. */
import { Layer } from "effect"
import { SubjectFacts } from "#domain/asset/SubjectFacts.ts"
import { homes, unitedStates } from "#layers/catalogue/classifications/homes.ts"
import { coinIds } from "#layers/catalogue/coinIds.ts"

const homeOf: Readonly<Record<string, (typeof homes)[keyof typeof homes]>> = homes

export const SubjectFactsLive = Layer.succeed(SubjectFacts, {
  coinIdOf: ({ kind, symbol }) => (kind === "equity" || kind === "etf" ? undefined : coinIds[symbol]),
  coinIds: [...new Set(Object.values(coinIds))].sort(),
  homeOf: ({ kind, symbol }) => (kind === "equity" || kind === "etf" ? (homeOf[symbol] ?? unitedStates) : undefined)
})
