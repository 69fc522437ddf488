/**
 * Prices of all families, each for one whole unit of what balances count. The market's price of a share on Solana is
 * that of a shown unit, and balances count raw ones: it is taken times the mint's multiplier
 * (docs/decisions/0172-solana-holdings.md). Where a multiplier is not known there is no price, so nothing is valued or
 * traded on a guess.
 */
import { PublicKey } from "@solana/web3.js"
import { Clock, Duration, Effect, Layer, Option, Result } from "effect"
import { addressOf, type AssetId, isErc20 } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { type Price, Prices } from "#domain/market/Prices.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { decodeMint } from "#layers/solana/token/Mint.ts"
import { type Multiplier, multiplierAt } from "#layers/solana/token/Multiplier.ts"

/** An issuer announces a change with the time from which it counts. */
const freshFor = Duration.toMillis(Duration.minutes(1))
const maxCached = 20_000

interface Known {
  /** Undefined where the mint cannot be read. */
  readonly multiplier: Multiplier | undefined
  readonly askAgainAt: number
}

export const SolanaPrices = Layer.effect(
  Prices,
  Effect.gen(function* () {
    const others = yield* Prices
    const rpc = yield* SolanaRpc
    const known = new Map<AssetId, Known>()

    const readMultipliers = Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>, now: number) {
      const keys = assetIds.map((assetId) => new PublicKey(addressOf(assetId)))
      const { values } = yield* rpc.accounts(keys)
      if (known.size > maxCached) known.clear()
      for (const [index, assetId] of assetIds.entries()) {
        const mint = Option.flatMap(values[index]!, (account) => Result.getSuccess(decodeMint(keys[index]!, account)))
        known.set(assetId, { multiplier: Option.getOrUndefined(mint)?.multiplier, askAgainAt: now + freshFor })
      }
    })

    const latest = Effect.fn("Prices.latest")(function* (assetIds: ReadonlyArray<AssetId>) {
      const prices = yield* others.latest(assetIds)
      const onSolana = [...prices.keys()].filter((assetId) => !isErc20(assetId))
      if (onSolana.length === 0) return prices
      const now = yield* Clock.currentTimeMillis
      const unknown = onSolana.filter((assetId) => (known.get(assetId)?.askAgainAt ?? 0) <= now)
      if (unknown.length > 0) {
        yield* readMultipliers(unknown, now).pipe(
          Effect.catchTag("ChainUnavailable", ({ message }) =>
            Effect.logWarning(`Multipliers of tokens on Solana could not be read: ${message}`)
          )
        )
      }
      const second = BigInt(Math.floor(now / 1_000))
      return new Map(
        [...prices].flatMap(([assetId, price]): ReadonlyArray<readonly [AssetId, Price]> => {
          if (isErc20(assetId)) return [[assetId, price]]
          const multiplier = known.get(assetId)?.multiplier
          if (multiplier === undefined) return []
          return [[assetId, scaled(price, multiplierAt(multiplier, second))]]
        })
      )
    })

    return Prices.of({ ...others, latest })
  })
)

/** A second source uses shown units too. */
const scaled = (price: Price, multiplier: bigint): Price => {
  const times = (usd: bigint) => (usd * multiplier) / Decimal.one
  const { disputedBy } = price
  return {
    ...price,
    usd: times(price.usd),
    ...(disputedBy === undefined ? {} : { disputedBy: { ...disputedBy, usd: times(disputedBy.usd) } })
  }
}
