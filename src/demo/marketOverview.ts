/**
 * The market at a glance, read by the public procedures: all coins, the movers, and the largest tokenized companies.
 */
import { DateTime, Effect } from "effect"
import { makeProcedures } from "#rpc/client.ts"
import { timeout, poll } from "#src/demo/completed.ts"
import { JourneyFailed } from "#src/demo/JourneyFailed.ts"
import { line } from "#src/demo/print.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"
import { draw } from "#src/demo/sparkline.ts"

const shown = 4

/** Rounds for people: figures stay exact on the wire. */
const dollars = (figure: string | null) => {
  if (figure === null) return "unknown"
  const value = Number(figure)
  const [size, unit] = value >= 1e12 ? [1e12, "T"] : value >= 1e9 ? [1e9, "B"] : value >= 1e6 ? [1e6, "M"] : [1, ""]
  return `$${(value / size).toFixed(2)}${unit}`
}
const percent = (figure: string | null) =>
  figure === null ? "" : `${Number(figure) >= 0 ? "+" : ""}${Number(figure).toFixed(2)}%`

export const marketOverview = Effect.gen(function* () {
  const { overview } = yield* Sandbox
  const ask = yield* makeProcedures({ baseUrl: overview.apiBaseUrl })
  const { cache, data } = yield* ask("cryptoMarketData.getGlobal", undefined).pipe(
    Effect.repeat({ schedule: poll, until: (answer) => answer.data !== null }),
    Effect.timeout(timeout)
  )
  const fetchedAt = cache.fetchedAt === null ? "" : DateTime.formatIso(DateTime.makeUnsafe(cache.fetchedAt))
  yield* line(
    `coins      ${dollars(data!.totalMarketCapUsd)} ${percent(data!.marketCapChangePercentage24h)}, ` +
      `BTC ${Number(data!.btcDominancePercentage).toFixed(1)}%, ETH ${Number(data!.ethDominancePercentage).toFixed(1)}%` +
      `   ${cache.source ?? ""}, ${fetchedAt}${cache.stale ? ", stale" : ""}`
  )
  const { data: movers } = yield* ask("cryptoMarketData.getTopMovers", { limit: shown })
  for (const [name, coins] of [
    ["gainers", movers.gainers],
    ["losers", movers.losers]
  ] as const) {
    const row = coins.map((coin) => `${coin.symbol} ${percent(coin.priceChangePercentage24h)}`.padEnd(18))
    yield* line(`${name.padEnd(10)} ${row.join("")}`)
  }
  const { featuredItems } = yield* ask("assets.getStockHighlights", undefined)
  for (const { companyName, marketData, metadata, ticker } of featuredItems.slice(0, shown)) {
    const values = marketData.sparkline24h.slice(-32).map(({ value }) => Number(value))
    yield* line(
      `${ticker.padEnd(6)} ${companyName.slice(0, 18).padEnd(18)} ${dollars(marketData.priceUsd).padStart(10)} ` +
        `${percent(marketData.change24hPct).padStart(8)}  ${values.length === 0 ? "" : draw(values)}  ${metadata.symbol} on ${metadata.chainId}`
    )
  }
}).pipe(
  Effect.scoped,
  Effect.mapError((error) => new JourneyFailed({ message: `The public procedures: ${error.message}` }))
)
