import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { IpNetwork } from "effect/net"
import * as fc from "fast-check"
import { peerAddress } from "#domain/stream/peerAddress.ts"
import { type BarFigures, misplaced, type QuoteFigures, readTick } from "#domain/stream/readTick.ts"
import { ReplayWindow } from "#domain/stream/ReplayWindow.ts"
import { nameOf, parseTopic } from "#domain/stream/Topic.ts"

const now = 1_800_000_000_000
const bar: BarFigures = {
  kind: "ohlcv",
  open: 10,
  high: 12,
  low: 9.5,
  close: 11,
  volume: 0,
  vwap: null,
  startMs: now - 1_000,
  endMs: now
}
const quote: QuoteFigures = {
  kind: "quote",
  priceUsd: 1e-9,
  change24hPct: -3.25,
  volume24hUsd: null,
  marketCapUsd: 1.5e12,
  asOfMs: now
}

describe("topics", () => {
  it("are read as they are written, and nothing else is", () => {
    const names = [
      "asset:equity:BRK.B:ohlcv:1s",
      "asset:crypto:ETH:quote:tick",
      "collection:stocks:default",
      "collection:crypto:default",
      "collection:watchlist:default"
    ]
    for (const name of names) assert.strictEqual(nameOf(parseTopic(name)!), name)
    const others = [
      "asset:equity:TSLA:quote:tick",
      "asset:equity:tsla:ohlcv:1s",
      "asset:bond:X:ohlcv:1s",
      "collection:stocks:mine",
      "collection:bonds:default",
      "asset:equity:TSLA:ohlcv:1s:more",
      ""
    ]
    for (const name of others) assert.isUndefined(parseTopic(name), name)
  })
})

describe("ticks", () => {
  it("keep a provider's figures as exact decimals", () => {
    assert.deepInclude(Result.getOrThrow(readTick(bar, now)), { open: "10", low: "9.5", volume: "0", vwap: null })
    assert.deepInclude(Result.getOrThrow(readTick(quote, now)), {
      priceUsd: "0.000000001",
      change24hPct: "-3.25",
      marketCapUsd: "1500000000000"
    })
  })

  it.each([
    [{ ...bar, close: Number.NaN }, "not_finite"],
    [{ ...bar, volume: Number.POSITIVE_INFINITY }, "not_finite"],
    [{ ...bar, low: -1 }, "negative"],
    [{ ...bar, open: 0 }, "negative"],
    [{ ...bar, high: 10.5 }, "inconsistent"],
    [{ ...bar, endMs: bar.startMs }, "inconsistent"],
    [{ ...bar, startMs: now + 6_000, endMs: now + 7_000 }, "future"],
    [{ ...quote, priceUsd: -1 }, "negative"],
    [{ ...quote, priceUsd: 0 }, "negative"],
    [{ ...quote, asOfMs: now + 5_001 }, "future"],
    [{ ...quote, asOfMs: 0.5 }, "inconsistent"]
  ] as const)("%j is dropped as %s", (figures, reason) =>
    assert.deepStrictEqual(readTick(figures, now), Result.fail(reason))
  )

  it("follow each other in time", () => {
    const at = (asOfMs: number) => Result.getOrThrow(readTick({ ...quote, asOfMs }, now))
    assert.isUndefined(misplaced(at(2), undefined))
    assert.isUndefined(misplaced(at(2), at(1)))
    assert.strictEqual(misplaced(at(2), at(2)), "duplicate")
    assert.strictEqual(misplaced(at(1), at(2)), "out_of_order")
  })
})

describe("a replay window", () => {
  it("has exactly the events after a sequence, or says that it does not, as a list of everything would", () =>
    fc.assert(
      fc.property(
        fc.tuple(
          fc.integer({ min: 1, max: 8 }),
          fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 30 }),
          fc.nat(120),
          fc.integer({ min: 1, max: 10 })
        ),
        ([capacity, steps, after, limit]) => {
          const base = 5
          const window = new ReplayWindow<{ readonly sequence: number }>(capacity, base)
          const all: Array<number> = []
          for (const step of steps) {
            all.push((all.at(-1) ?? base) + step)
            assert.isTrue(window.push({ sequence: all.at(-1)! }))
            assert.isFalse(window.push({ sequence: all.at(-1)! }), "nothing is kept twice")
          }
          const lost = [base, ...all.slice(0, Math.max(0, all.length - capacity))].at(-1)!
          const expected = after < lost ? undefined : all.filter((sequence) => sequence > after).slice(0, limit)
          assert.deepStrictEqual(
            window.after(after, limit)?.map(({ sequence }) => sequence),
            expected
          )
        }
      )
    ))
})

describe("the address of a client", () => {
  const proxies = [IpNetwork.fromStringUnsafe("10.0.0.0/8")]
  it.each([
    ["9.9.9.9", "1.1.1.1", "9.9.9.9"],
    ["10.0.0.1", "1.1.1.1", "1.1.1.1"],
    ["10.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.2", "1.1.1.1"],
    ["10.0.0.1", "nonsense", "10.0.0.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "10.0.0.3", "10.0.0.3"]
  ])("of a connection from %s with X-Forwarded-For %s is %s", (remote, forwarded, expected) =>
    assert.strictEqual(peerAddress(remote, forwarded, proxies), expected)
  )
})
