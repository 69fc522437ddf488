/**
 * The market of a simulation: one price a symbol, that walks at random and sometimes jumps, and pools that pay about
 * it. A price depends on the seed and the time alone, so it does not matter who asks, or when.
 */
import * as Amount from "#domain/values/Amount.ts"
import { type AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Asset } from "#domain/asset/Asset.ts"
import type { Random } from "#test/simulation/harness/Random.ts"

/** Basis points that a swap costs. */
export const feeBps = 30

const whole = 10_000n
const stepMs = 120_000

const firstPrices: Readonly<Record<string, number>> = { USDC: 1, WETH: 2500, cbBTC: 60_000 }

interface Walk {
  readonly random: Random
  /** US dollars (wad) at each step. */
  readonly steps: Array<bigint>
}

export class Market {
  readonly #assets: ReadonlyMap<AssetId, Asset>
  readonly #walks = new Map<string, Walk>()
  readonly #random: Random
  readonly #startedAt: number
  readonly #volatilityBps: number
  /** Time from which nothing moves and pools pay exactly. */
  calmFrom = Infinity

  constructor(assets: ReadonlyMap<AssetId, Asset>, random: Random, startedAt: number) {
    this.#assets = assets
    this.#random = random
    this.#startedAt = startedAt
    this.#volatilityBps = random.pick([3, 10, 30])
  }

  /** US dollars (wad) for a whole token; undefined for an unknown one. */
  price(assetId: AssetId, at: number): bigint | undefined {
    const asset = this.#assets.get(assetId)
    return asset === undefined ? undefined : this.#priceOf(asset.symbol, Math.min(at, this.calmFrom))
  }

  /** What a swap yields at a time; null when there is no pool. */
  output({ buy, sell }: { readonly sell: AssetId; readonly buy: AssetId }, sellRaw: bigint, at: number): bigint | null {
    const [from, to] = [this.#assets.get(sell), this.#assets.get(buy)]
    const [fromPrice, toPrice] = [this.price(sell, at), this.price(buy, at)]
    if (from === undefined || to === undefined || fromPrice === undefined || toPrice === undefined) return null
    const value = (Amount.valueUsd(sellRaw, from.decimals, fromPrice) * (whole - BigInt(feeBps))) / whole
    return Amount.fromUsd((value * (whole - this.#driftBps(sell, buy, at))) / whole, to.decimals, toPrice)
  }

  #priceOf(symbol: string, at: number): bigint {
    const walk = this.#walkOf(symbol)
    const index = Math.max(0, Math.floor((at - this.#startedAt) / stepMs))
    while (walk.steps.length <= index) walk.steps.push(this.#next(walk, symbol))
    return walk.steps[index]!
  }

  #next({ random, steps }: Walk, symbol: string): bigint {
    const last = steps.at(-1)!
    if (symbol === "USDC") return Decimal.one
    const bps = random.chance(0.002)
      ? random.between(-1500, 1500)
      : random.between(-1, 1) * random.between(0, this.#volatilityBps)
    return (last * BigInt(10_000 + bps)) / whole
  }

  #walkOf(symbol: string): Walk {
    let walk = this.#walks.get(symbol)
    if (walk === undefined) {
      walk = { random: this.#random.fork(symbol), steps: [BigInt(firstPrices[symbol] ?? 1) * Decimal.one] }
      this.#walks.set(symbol, walk)
    }
    return walk
  }

  /** How much worse than the feed a pool pays right now: mostly little, now and then more than anybody allows. */
  #driftBps(sell: AssetId, buy: AssetId, at: number): bigint {
    if (at >= this.calmFrom) return 0n
    const drawn = this.#random.fork(`${sell} ${buy} ${Math.floor(at / 30_000)}`)
    return BigInt(
      drawn.weighted([
        [0.9, drawn.between(0, 20)],
        [0.07, drawn.between(20, 60)],
        [0.03, drawn.between(60, 900)]
      ])
    )
  }
}
