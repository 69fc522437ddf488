/** A portfolio in a world of its own, what it holds and what that costs, and the valuations of it. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AssetId, EvmAccountId } from "#domain/values/Caip.ts"
import type { Day } from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { ValuationStore } from "#domain/performance/ValuationStore.ts"
import { Valuer } from "#domain/performance/Valuer.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { Ledger, LedgerLive } from "#test/domain/performance/Ledger.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"

const hour = 3_600_000
export const [usdc, weth] = [baseUsdc.assetId, baseWeth.assetId]
export const dollars = (n: number) => BigInt(n) * Decimal.one
export const usdcRaw = (n: number) => BigInt(n) * 10n ** 6n
export const wethRaw = Decimal.one

export const Valuers = Layer.merge(Valuer.layer, PortfolioValuer.layer).pipe(
  Layer.provideMerge(LedgerLive),
  Layer.provideMerge(TestStores),
  Layer.provide(TestSettings),
  Layer.provideMerge(TestChain.layer),
  Layer.provideMerge(MovableClock.layer)
)

/** A portfolio with accounts on Base and Arbitrum, alone in the world. */
export const alone = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE portfolios SET archived_at = created_at WHERE archived_at IS NULL`
  const made = yield* enrolledPortfolio
  const ledger = yield* Ledger
  ledger.held.clear()
  ledger.coins.clear()
  ledger.down.clear()
  ledger.asked.clear()
  ledger.pricesDown = false
  ledger.pricesAsOf = undefined
  ledger.prices.set(usdc, Decimal.one)
  ledger.prices.set(arbUsdc.assetId, Decimal.one)
  ledger.prices.set(weth, dollars(2000))
  const [onBase, onArbitrum] = made.accounts
  const hold = (account: EvmAccountId, assetId: AssetId, raw: bigint | null) =>
    void ledger.held.set(`${account} ${assetId}`, raw)
  return { ...made, ledger, onBase, onArbitrum, hold }
})

export type World = Effect.Success<typeof alone>

/** An hour later and some blocks on: the next pass. */
export const nextPass = Effect.gen(function* () {
  ;(yield* MovableClock).advance(hour)
  ;(yield* Ledger).block += 10n
  return yield* (yield* Valuer).pass
})

/** The days summed up, as clock and midnight must not matter: value, flows and growth. */
export const summary = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const rows = yield* (yield* ValuationStore).days(portfolioId, 0 as Day)
  const growth = rows.reduce((product, row) => (product * (row.growth ?? Decimal.one)) / Decimal.one, Decimal.one)
  return [rows.at(-1)?.valueUsd, rows.reduce((sum, row) => sum + row.cashFlowUsd, 0n), growth] as const
})
