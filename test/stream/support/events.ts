import type { MarketEvent, MarketUpdate } from "#domain/stream/MarketData.ts"
import { type AssetClass } from "#domain/stream/Topic.ts"

export const tick = (assetClass: AssetClass, symbol: string, time: number): MarketUpdate => ({
  assetClass,
  symbol,
  data:
    assetClass === "crypto"
      ? { kind: "quote", priceUsd: `${time}`, change24hPct: null, volume24hUsd: null, marketCapUsd: null, asOfMs: time }
      : {
          kind: "ohlcv",
          open: "1",
          high: "2",
          low: "1",
          close: "2",
          volume: "3",
          vwap: null,
          startMs: time,
          endMs: time + 1000
        }
})

export const eventOf = (tick: MarketUpdate, sequence: number, previous: number): MarketEvent => ({
  ...tick,
  sequence,
  previous
})
