/** Looks at a portfolio as it stands and plans its rebalance. */
import { Context, DateTime, Effect, Layer, Result, Struct } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { addressOf, type AssetId, type ChainId, chainIdOf, erc20 } from "#domain/Caip.ts"
import { type AccountBalances, Balances } from "#domain/chain/Balances.ts"
import type { ChainAuthorization } from "#domain/enrollment/Authorization.ts"
import { authorizedChains } from "#domain/enrollment/Grant.ts"
import { type Price, Prices } from "#domain/market/Prices.ts"
import type { ChainState, Holding, Plan } from "#domain/rebalance/Plan.ts"
import { plan } from "#domain/rebalance/planRebalance.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { RunContext } from "#domain/rebalance/RunStore.ts"
import { Venue } from "#domain/rebalance/Venue.ts"
import { Settings } from "#domain/Settings.ts"
import { resolveSwap, type SwapLimits } from "#domain/strategy/resolveSwap.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"

import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"

interface ChainReading {
  readonly authorization: ChainAuthorization
  readonly catalogue: ReadonlyArray<Asset>
  /** Null when the chain, or a target asset on it, could not be read: an unknown balance is not zero. */
  readonly balances: ReadonlyMap<AssetId, bigint> | null
}

/** What a plan must leave out beside what it leaves out by itself. */
export interface Restraint {
  /** From this chain nothing leaves, because no transfer could be arranged. */
  readonly keepOn: ChainId
}

export class RunPlanner extends Context.Service<
  RunPlanner,
  {
    /** Never fails for an outside reason: a chain or price that cannot be read is a skip of the plan. */
    readonly plan: (context: RunContext, restraint?: Restraint) => Effect.Effect<RunPlan>
  }
>()("ballast/domain/rebalance/RunPlanner") {
  static readonly layer = Layer.effect(
    RunPlanner,
    Effect.gen(function* () {
      const assets = yield* Assets
      const balances = yield* Balances
      const prices = yield* Prices
      const venue = yield* Venue
      const settings = yield* Settings
      const tenants = yield* TenantConfigurationStore
      const inTransit = yield* InTransit

      const readChain = Effect.fnUntraced(function* (
        authorization: ChainAuthorization,
        targets: ReadonlySet<AssetId>,
        reserved: RunContext["reserved"]
      ) {
        const catalogue = yield* assets.onChain(authorization.chainId)
        const ids = catalogue.map(({ assetId }) => assetId)
        const reading = yield* Effect.result(balances.read(authorization.accountId, ids))
        return {
          authorization,
          catalogue,
          balances: Result.isSuccess(reading) ? readable(reading.success, targets, reserved) : null
        }
      })

      const planRun = Effect.fn("RunPlanner.plan")(function* (context: RunContext, restraint?: Restraint) {
        const { swap } = yield* tenants.preferences(context.tenantId)
        const limits = resolveSwap([context.swap, swap], settings.defaultSwap)
        const targets = new Set(context.allocation.map(({ assetId }) => assetId))
        // Before the balances: what arrives in between counts twice for a moment rather than not at all, so nothing more
        // is sent for want of it.
        const incoming = incomingOf(yield* inTransit.of(context.portfolioId))
        const authorized = authorizedChains(context.grants)
        const carriers = carriersOf(authorized, new Set([...context.awaited, restraint?.keepOn]))
        const ofInterest = new Set([...targets, ...carriers.values(), ...incoming.keys()])
        const readings = yield* Effect.forEach(authorized, (chain) => readChain(chain, ofInterest, context.reserved), {
          concurrency: "unbounded"
        })
        const known = yield* Effect.orElseSucceed(
          prices.latest(
            readings.flatMap((reading) => assetsOfInterest(reading, ofInterest).map(({ assetId }) => assetId))
          ),
          (): ReadonlyMap<AssetId, Price> => new Map()
        )
        const plannedAt = yield* DateTime.now
        const staleBefore = plannedAt.epochMilliseconds - settings.priceMaxAgeMs
        const planned = plan({
          chains: readings.map((reading) => chainState(reading, { ofInterest, known, staleBefore, incoming })),
          allocation: context.allocation,
          preferences: { thresholdUsd: limits.thresholdUsd },
          feeBps: venue.feeBps,
          transfers: { assets: carriers, feeBps: settings.transfers.costBps, leastUsd: settings.transfers.leastUsd }
        })
        return { strategyVersion: context.strategyVersion, plannedAt, ...toRunPlan(limits, planned) }
      })

      return RunPlanner.of({ plan: planRun })
    })
  )
}

/** What of the balances that were read may be traded; null when a target asset's is missing. */
const readable = (
  { balances }: AccountBalances,
  targets: ReadonlySet<AssetId>,
  reserved: RunContext["reserved"]
): ReadonlyMap<AssetId, bigint> | null => {
  if (balances.some(({ assetId, raw }) => raw === null && targets.has(assetId))) return null
  const free = new Map(balances.flatMap(({ assetId, raw }) => (raw === null ? [] : [[assetId, raw] as const])))
  for (const { assetId, raw } of reserved) {
    const held = free.get(assetId)
    if (held !== undefined) free.set(assetId, held > raw ? held - raw : 0n)
  }
  return free
}

/** What is held on the chain, what the allocation wants there, and what comes and goes. */
const assetsOfInterest = (
  { catalogue, balances }: ChainReading,
  ofInterest: ReadonlySet<AssetId>
): ReadonlyArray<Asset> =>
  catalogue.filter(({ assetId }) => ofInterest.has(assetId) || (balances?.get(assetId) ?? 0n) > 0n)

/** Raw units of each asset that are on their way to the portfolio's accounts. */
const incomingOf = (transfers: ReadonlyArray<Transfer>): ReadonlyMap<AssetId, bigint> => {
  const incoming = new Map<AssetId, bigint>()
  for (const { buy, expectedRaw } of transfers) incoming.set(buy, (incoming.get(buy) ?? 0n) + expectedRaw)
  return incoming
}

/** The asset by which each chain sends and receives, where its owner allowed it to leave and it need not be kept apart. */
const carriersOf = (chains: ReadonlyArray<ChainAuthorization>, apart: ReadonlySet<ChainId | undefined>) =>
  new Map(
    chains.flatMap(({ chainId, policy }) =>
      policy.bridge === undefined || apart.has(chainId) ? [] : [[chainId, erc20(chainId, policy.bridge.token)] as const]
    )
  )

interface Known {
  readonly ofInterest: ReadonlySet<AssetId>
  readonly known: ReadonlyMap<AssetId, Price>
  readonly staleBefore: number
  readonly incoming: ReadonlyMap<AssetId, bigint>
}

const chainState = (reading: ChainReading, { incoming, known: prices, ofInterest, staleBefore }: Known): ChainState => {
  const buyable = new Set(reading.authorization.policy.tokens)
  const holding = ({ assetId, decimals, isBlocked }: Asset): Holding => {
    const price = prices.get(assetId)
    return {
      assetId,
      decimals,
      balanceRaw: reading.balances?.get(assetId) ?? 0n,
      incomingRaw: incoming.get(assetId) ?? 0n,
      priceUsd: price?.usd ?? null,
      priceIsStale: price !== undefined && price.asOf.epochMilliseconds < staleBefore,
      isBlocked,
      isAuthorized: buyable.has(addressOf(assetId))
    }
  }
  return {
    chainId: chainIdOf(reading.authorization.accountId),
    available: reading.balances !== null,
    holdings: assetsOfInterest(reading, ofInterest).map(holding)
  }
}

const toRunPlan = (
  { slippageBps, priceImpactBps }: SwapLimits,
  { chains }: Plan
): Pick<RunPlan, "limits" | "chains"> => ({
  limits: { slippageBps, priceImpactBps },
  chains: chains.map(({ chainId, legs, skips, transfers }) => ({
    chainId,
    ...(transfers.length === 0
      ? {}
      : { transfers: transfers.map((transfer) => Struct.omit(transfer, ["fromChainId", "toChainId"])) }),
    legs: legs.map(({ sell, buy, sellAmountRaw, valueUsd, expectedBuyRaw }) => ({
      sell,
      buy,
      sellAmountRaw,
      valueUsd,
      expectedBuyRaw
    })),
    skips: skips.map((skip) => Struct.omit(skip, ["chainId"]))
  }))
})
