/** Random portfolios for the planner's properties. */
import * as fc from "fast-check"
import { type AssetId, type ChainId, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import type { ChainHoldings, Holding, PlanInput } from "#domain/planning/Plan.ts"
import type { TargetWeight } from "#domain/mandate/Allocation.ts"

const cent = 10_000_000_000_000_000n
const chainIds = [1, 10, 8453].map((id) => id as ChainId)

export const assetAt = (chainId: ChainId, index: number): AssetId =>
  erc20(chainId, `0x${(index + 1).toString(16).padStart(40, "0")}` as EvmAddress)

/** What decides one holding, before its price is known. */
interface Draw {
  readonly decimals: number
  readonly priceUsd: bigint
  readonly valueUsd: bigint
  readonly share: number
  readonly isHeld: boolean
  readonly isPriced: boolean
  readonly priceIsStale: boolean
  readonly isBlocked: boolean
  readonly isAuthorized: boolean
}

export interface Kind {
  /** Every asset can be traded. */
  readonly isFree?: boolean
  /**
   * True for at least twelve decimals: at the highest price a raw unit is still worth less than a millionth of a
   * dollar.
   */
  readonly isFine?: boolean
  readonly maxAssets?: number
  readonly chains?: number
}

/** Prices from 0.00000001 to 99,999 US dollars for one token. */
const price = fc
  .record({ mantissa: fc.bigInt({ min: 10_000n, max: 99_999n }), exponent: fc.integer({ min: 6, max: 18 }) })
  .map(({ mantissa, exponent }) => mantissa * 10n ** BigInt(exponent))

/** Values from nothing to a million US dollars, small ones as likely as large ones. */
const value = fc
  .record({ mantissa: fc.bigInt({ min: 0n, max: 999n }), exponent: fc.integer({ min: 14, max: 21 }) })
  .map(({ mantissa, exponent }) => mantissa * 10n ** BigInt(exponent))

const rarely = fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0)
const mostly = rarely.map((isRare) => !isRare)

const draw = (kind: Kind): fc.Arbitrary<Draw> =>
  fc.record({
    decimals: fc.integer({ min: kind.isFine ? 12 : 0, max: 18 }),
    priceUsd: price,
    valueUsd: value,
    share: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000 })),
    isHeld: fc.boolean(),
    isPriced: kind.isFree ? fc.constant(true) : mostly,
    priceIsStale: kind.isFree ? fc.constant(false) : rarely,
    isBlocked: kind.isFree ? fc.constant(false) : rarely,
    isAuthorized: kind.isFree ? fc.constant(true) : mostly
  })

const holdingOf = (assetId: AssetId, drawn: Draw): Holding => ({
  assetId,
  decimals: drawn.decimals,
  balanceRaw: drawn.isHeld ? (drawn.valueUsd * 10n ** BigInt(drawn.decimals)) / drawn.priceUsd : 0n,
  priceUsd: drawn.isPriced ? drawn.priceUsd : null,
  priceIsStale: drawn.priceIsStale,
  isBlocked: drawn.isBlocked,
  isAuthorized: drawn.isAuthorized
})

/** Weights in proportion to the shares, 10,000 in all; the first target takes what rounding leaves. */
const allocationOf = (assets: ReadonlyArray<readonly [AssetId, Draw]>): ReadonlyArray<TargetWeight> => {
  const targets = assets.filter(([, drawn]) => drawn.share > 0)
  const sum = targets.reduce((total, [, drawn]) => total + drawn.share, 0)
  const weights = targets.map(([, drawn]) => Math.floor((drawn.share * 10_000) / sum))
  const rest = 10_000 - weights.reduce((total, weight) => total + weight, 0)
  return targets
    .map(([assetId], index) => ({ assetId, weight: weights[index]! + (index === 0 ? rest : 0) }))
    .filter((target) => target.weight > 0)
}

export const portfolio = (kind: Kind = {}): fc.Arbitrary<PlanInput> =>
  fc
    .record({
      chains: fc.array(fc.array(draw(kind), { minLength: 1, maxLength: kind.maxAssets ?? 12 }), {
        minLength: 1,
        maxLength: kind.chains ?? 3
      }),
      thresholdCents: fc.oneof(
        fc.constant(0n),
        fc.bigInt({ min: 1n, max: 100n }),
        fc.bigInt({ min: 100n, max: 10_000n })
      ),
      feeBps: fc.integer({ min: 0, max: 100 })
    })
    .map(({ chains, feeBps, thresholdCents }) => {
      const assets = chains.map((drawn, chain) =>
        drawn.map((each, index) => [assetAt(chainIds[chain]!, index), each] as const)
      )
      return {
        chains: assets.map((each, chain): ChainHoldings => ({
          chainId: chainIds[chain]!,
          available: true,
          holdings: each.map(([assetId, drawn]) => holdingOf(assetId, drawn))
        })),
        allocation: allocationOf(assets.flat()),
        preferences: { thresholdUsd: thresholdCents * cent },
        feeBps
      }
    })
