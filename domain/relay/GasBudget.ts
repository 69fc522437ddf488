/**
 * What the service pays for, stated in numbers: gas of a portfolio and of a tenant a day, gas of what an owner signs,
 * and gas that a batch of trades is worth. Budgets count what landed; what is under way when one is used up goes
 * through, so it may be overdrawn by that.
 */
import { Context, DateTime, Effect, Layer, Metric, Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { isFresh, Prices } from "#domain/market/Prices.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { GasLedger, type Payee } from "#domain/relay/GasLedger.ts"
import { feeWithin } from "#domain/relay/fees/feeCeilings.ts"
import {
  type ActionCost,
  type CostCeilings,
  expectedShare,
  maxNative,
  type PaidGas,
  paidNative,
  paysByGas
} from "#domain/relay/Transaction.ts"
import { NativeAssets } from "#domain/chain/NativeAssets.ts"
import * as Decimal from "#domain/values/Decimal.ts"

const bps = 10_000n

const refused = (scope: "portfolio" | "tenant" | "owner" | "value" | "ceiling") =>
  Metric.update(Metric.withAttributes(Metrics.gasRefusals, { scope }), 1)

/**
 * How much gas the service pays for. Filled from the environment by src/Config.ts.
 *
 * **When to use**
 *
 * Use in `GasBudget` alone.
 */
export class GasSettings extends Context.Service<
  GasSettings,
  {
    /** Units of gas that the agent may use for one portfolio in a UTC day. */
    readonly portfolioPerDay: bigint
    /** Units of gas that the agent may use for all portfolios of a tenant in a UTC day. */
    readonly tenantPerDay: bigint
    /** Units of gas that are kept in a UTC day for what the owner of one portfolio signs; nothing else uses them. */
    readonly ownerPerDay: bigint
    /** Basis points of what a batch of trades moves, which it may cost at most. */
    readonly maxShareBps: number
    /** US dollars (wad) that a transaction of the agent may cost at most, of chains that have such a number. */
    readonly ceilingsUsd: ReadonlyMap<ChainId, bigint>
  }
>()("ballast/domain/relay/GasSettings") {}

/**
 * What the service pays for gas.
 *
 * **When to use**
 *
 * Use `refusal` before work of the agent is accepted or begun, `refusalOfOwner` before what an owner signed is
 * accepted, `waste` when a batch is prepared, and `ceilings` for what is then signed.
 */
export class GasBudget extends Context.Service<
  GasBudget,
  {
    /** Why no more gas is paid today for what the agent does; none while there is some left. */
    readonly refusal: (payee: Payee) => Effect.Effect<Option.Option<string>>
    /**
     * Refuses what the portfolio's owner signs. Nothing that the agent, the integrator or the owners of other
     * portfolios do counts.
     */
    readonly refusalOfOwner: (payee: Payee) => Effect.Effect<Option.Option<string>>
    /**
     * Why an action of the agent is not to be paid for: it may cost more than a transaction may on its chain, or than
     * trades of this value (US dollars, wad; null where nothing says it) are worth. None when it is, or when the price
     * of the chain's native asset is not known.
     */
    readonly waste: (prepared: ActionCost, valueUsd: bigint | null) => Effect.Effect<Option.Option<string>>
    /**
     * Limits in the chain's native money, at which they hold for every transaction that includes the action. Without
     * the price of the native asset there are none, and the chain's ceiling for a unit of gas holds alone.
     */
    readonly ceilings: (prepared: ActionCost, valueUsd: bigint | null) => Effect.Effect<CostCeilings>
    /** What it is expected to cost, US dollars (wad); none when the price of the native asset is not known. */
    readonly expectedUsd: (prepared: ActionCost) => Effect.Effect<Option.Option<bigint>>
    /**
     * What a transaction did cost, US dollars (wad); none when the price of the native asset is not known. Never fails.
     */
    readonly paidUsd: (chainId: ChainId, paid: PaidGas) => Effect.Effect<Option.Option<bigint>>
  }
>()("ballast/domain/relay/GasBudget") {
  static readonly layer = Layer.effect(
    GasBudget,
    Effect.gen(function* () {
      const ledger = yield* GasLedger
      const prices = yield* Prices
      const { maxAgeMs } = yield* PriceSettings
      const natives = yield* NativeAssets
      const limits = yield* GasSettings

      const refusalBy = (limitOf: ReadonlyArray<readonly ["portfolio" | "tenant" | "owner", bigint]>) =>
        Effect.fnUntraced(function* (payee: Payee) {
          const spent = yield* ledger.spent(payee, yield* DateTime.now)
          for (const [scope, max] of limitOf) {
            if (spent[scope] < max) continue
            yield* refused(scope)
            return Option.some(
              `the ${scope}'s gas of this day is used up (${spent[scope]} of ${max}); there is more from 00:00 UTC on`
            )
          }
          return Option.none<string>()
        })

      const refusal = refusalBy([
        ["portfolio", limits.portfolioPerDay],
        ["tenant", limits.tenantPerDay]
      ])

      const refusalOfOwner = refusalBy([["owner", limits.ownerPerDay]])

      /** US dollars (wad) for one of the native asset. */
      const priceOf = Effect.fnUntraced(function* (chainId: ChainId) {
        const native = natives.get(chainId)
        if (native === undefined) return Option.none<bigint>()
        const known = yield* Effect.option(prices.latest([native]))
        const price = Option.getOrUndefined(known)?.get(native)
        const staleBefore = (yield* DateTime.now).epochMilliseconds - maxAgeMs
        return price === undefined || price.usd <= 0n || !isFresh(price, staleBefore)
          ? Option.none<bigint>()
          : Option.some(price.usd)
      })

      const usdOf = (chainId: ChainId, nativeRaw: bigint) =>
        Effect.map(
          priceOf(chainId),
          Option.map((usd) => (nativeRaw * usd) / Decimal.one)
        )

      /** The most that it can cost. */
      const maxUsd = (prepared: ActionCost) => usdOf(prepared.chainId, maxNative(prepared))

      const paidUsd = (chainId: ChainId, paid: PaidGas) => {
        const native = paidNative(paid)
        return native === undefined ? Effect.succeedNone : usdOf(chainId, native)
      }

      const expectedUsd = (prepared: ActionCost) =>
        Effect.map(
          maxUsd(prepared),
          Option.map((usd) => expectedShare(prepared, usd))
        )

      const waste = Effect.fnUntraced(function* (prepared: ActionCost, valueUsd: bigint | null) {
        const max = yield* maxUsd(prepared)
        if (Option.isNone(max)) return Option.none()
        const costUsd = max.value
        const ceilingUsd = limits.ceilingsUsd.get(prepared.chainId)
        if (ceilingUsd !== undefined && costUsd > ceilingUsd) {
          yield* refused("ceiling")
          return Option.some(
            `gas may cost $${Decimal.format(costUsd, 2)}, and a transaction on chain ${prepared.chainId} may cost $${Decimal.format(ceilingUsd, 2)}`
          )
        }
        if (valueUsd === null || costUsd * bps <= valueUsd * BigInt(limits.maxShareBps)) return Option.none()
        yield* refused("value")
        return Option.some(
          `gas may cost $${Decimal.format(costUsd, 2)}, and $${Decimal.format(valueUsd, 2)} would be traded: it is not worth it`
        )
      })

      const ceilings = Effect.fnUntraced(function* (prepared: ActionCost, valueUsd: bigint | null) {
        if (!paysByGas(prepared)) return {}
        const price = yield* priceOf(prepared.chainId)
        if (Option.isNone(price)) return {}
        const nativeOf = (usd: bigint) => (usd * Decimal.one) / price.value
        const ceilingUsd = limits.ceilingsUsd.get(prepared.chainId)
        const found: CostCeilings = {
          ...(ceilingUsd === undefined ? {} : { costCeiling: nativeOf(ceilingUsd) }),
          ...(valueUsd === null
            ? {}
            : { feeCeiling: feeWithin(nativeOf((valueUsd * BigInt(limits.maxShareBps)) / bps), prepared) })
        }
        return found
      })

      return GasBudget.of({ refusal, refusalOfOwner, waste, ceilings, expectedUsd, paidUsd })
    })
  )
}

/** Seconds until the budgets of the day begin anew, at least one. */
export const secondsLeftOfDay = (now: DateTime.Utc): number =>
  Math.max(1, Math.ceil((86_400_000 - (now.epochMilliseconds % 86_400_000)) / 1_000))
