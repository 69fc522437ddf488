/**
 * Reads what plans are made from, for any number of portfolios in one pass: catalogues and balances by chain, prices
 * and what is in transit once for all. What could not be read is in the input as such.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Result, Schedule } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import type { AccountMoment } from "#domain/values/AccountMoment.ts"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import { type AccountBalances, Balances } from "#domain/chain/Balances.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import { type Price, Prices } from "#domain/market/Prices.ts"
import type { AccountReading } from "#domain/performance/valuePortfolio.ts"
import type { PlanInput } from "#domain/planning/Plan.ts"
import { closedFor } from "#domain/rebalance/ClosedRoute.ts"
import { makeReadAppliedPolicies } from "#domain/rebalance/plan/readAppliedPolicies.ts"
import {
  accountOf,
  assetsOfInterest,
  authoritiesOf,
  behindIn,
  blocksOf,
  bridgeAssetsOf,
  type ChainReading,
  chainState,
  incomingOf,
  momentsOf,
  readable,
  valueOfHoldings
} from "#domain/rebalance/plan/ChainReading.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import { Venue } from "#domain/trading/Venue.ts"
import type { Slicing } from "#domain/trading/Slicing.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import { type SwapLimits, SwapSettings } from "#domain/strategy/SwapSettings.ts"
import { TransferSettings } from "#domain/trading/RoutingSettings.ts"
import { swapLimits } from "#domain/strategy/resolveSwap.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"

interface ReadOptions {
  /**
   * How long balances are waited for before they count as unavailable, after one request. When it is left out, a read
   * without an answer is repeated for some seconds.
   */
  readonly timeout?: Duration.Duration
}

/** Six requests in four and a half seconds. */
const askAgain = Schedule.exponential(Duration.millis(150)).pipe(Schedule.upTo({ times: 5 }))

/** Answers the results once all succeed, or those of the last request. */
const untilAllSucceed = <A, E>(
  reading: Effect.Effect<ReadonlyArray<Result.Result<A, E>>>
): Effect.Effect<ReadonlyArray<Result.Result<A, E>>> =>
  Effect.flatMap(reading, (results) =>
    results.every(Result.isSuccess) ? Effect.succeed(results) : Effect.fail(results)
  ).pipe(Effect.retry(askAgain), Effect.catch(Effect.succeed))

/** What the plan of one portfolio is made from. */
export interface PlanReading {
  readonly context: PlanContext
  /** Time at which balances and prices had been read. */
  readonly readAt: DateTime.Utc
  readonly limits: SwapLimits
  /** False when no price source answered: nothing is known of any price then. */
  readonly arePricesKnown: boolean
  readonly input: PlanInput
  /** Absent: trades are made whole or not at all. */
  readonly slicing?: Slicing
  /** The accounts that were read, whole: with what is reserved, and what the plan leaves alone. */
  readonly accounts: ReadonlyArray<AccountReading>
  /** Block at which each chain was read. */
  readonly madeFrom: ReadonlyMap<ChainId, AccountMoment>
  /** Why chains could not be read whose nodes are behind what is known of their accounts; empty where none is. */
  readonly behind: ReadonlyArray<string>
  /** Absent where no account was read that could show it. */
  readonly authorities?: ReadonlyArray<ForeignAuthority>
}

/** A portfolio before its balances are read. */
interface Outline {
  readonly context: PlanContext
  readonly authorized: ReadonlyArray<ChainAuthorization>
  readonly bridgeAssets: ReadonlyMap<ChainId, AssetId>
  readonly ofInterest: ReadonlySet<AssetId>
  /** Those of them by which value comes and goes. */
  readonly moving: ReadonlySet<AssetId>
}

/**
 * What plans are made from.
 *
 * **When to use**
 *
 * Use wherever the planner runs: in runs, drift checks, previews and triggers, so that all of them read alike.
 */
export class PlanReader extends Context.Service<
  PlanReader,
  {
    /** One reading for each context, in their order. Never fails for an outside reason. */
    readonly read: (
      contexts: ReadonlyArray<PlanContext>,
      options?: ReadOptions
    ) => Effect.Effect<ReadonlyArray<PlanReading>>
  }
>()("ballast/domain/rebalance/PlanReader") {
  static readonly layer = Layer.effect(
    PlanReader,
    Effect.gen(function* () {
      const assets = yield* Assets
      const balances = yield* Balances
      const prices = yield* Prices
      const venue = yield* Venue
      const { maxAgeMs } = yield* PriceSettings
      const swapSettings = yield* SwapSettings
      const { costBps, minUsd } = yield* TransferSettings
      const inTransit = yield* InTransit
      const readAppliedPolicies = yield* makeReadAppliedPolicies

      /**
       * Reads of one chain its catalogue, and what each of the accounts holds of it, or why that could not be read;
       * undefined where there was no answer in time.
       */
      const readChain = Effect.fnUntraced(function* (
        chainId: ChainId,
        authorizations: ReadonlyArray<ChainAuthorization>,
        timeout: Duration.Duration | undefined
      ) {
        const catalogue = yield* assets.onChain(chainId)
        const assetIds = catalogue.map(({ assetId }) => assetId)
        const reading = balances.readMany(
          chainId,
          authorizations.map(({ accountId: account, permissionId }) => ({ account, assetIds, permissionId }))
        )
        const results =
          timeout === undefined
            ? yield* untilAllSucceed(reading)
            : Option.getOrElse(yield* Effect.timeoutOption(reading, timeout), () => [])
        if (timeout !== undefined) yield* reportUnread(chainId, authorizations.length, results)
        return {
          catalogue,
          of: new Map(authorizations.map((authorization, index) => [authorization, results[index]]))
        }
      })

      const readChains = Effect.fnUntraced(function* (
        outlines: ReadonlyArray<Outline>,
        timeout: Duration.Duration | undefined
      ) {
        const byChain = Map.groupBy(
          outlines.flatMap((outline) => outline.authorized),
          ({ chainId }) => chainId
        )
        const read = yield* Effect.forEach(
          byChain,
          ([chainId, authorizations]) =>
            Effect.map(readChain(chainId, authorizations, timeout), (chain) => [chainId, chain] as const),
          { concurrency: "unbounded" }
        )
        const chains = new Map(read)
        return outlines.map(({ authorized, context, moving }) =>
          authorized.map((authorization): ChainReading => {
            const chain = chains.get(authorization.chainId)!
            const result = chain.of.get(authorization)
            const account = result === undefined ? null : Option.getOrNull(Result.getSuccess(result))
            return {
              authorization,
              catalogue: chain.catalogue,
              balances: account === null ? null : readable(account, moving, context.reserved),
              account,
              behind: result === undefined ? null : behindIn(result)
            }
          })
        )
      })

      /** What is open decides what is read of each portfolio. */
      const readOutlines = Effect.fnUntraced(function* (
        contexts: ReadonlyArray<PlanContext>,
        open: ReadonlyArray<Transfer>,
        timeout: Duration.Duration | undefined
      ) {
        const transfers = Map.groupBy(open, ({ portfolioId }) => portfolioId)
        const outlines = contexts.map((context) => outlineOf(context, transfers.get(context.portfolioId) ?? []))
        const readings = yield* readChains(outlines, timeout)
        return { accounts: { outlines, readings }, blocks: blocksOf(readings.flat()) }
      })

      const read = Effect.fn("PlanReader.read")(function* (
        contexts: ReadonlyArray<PlanContext>,
        { timeout }: ReadOptions = {}
      ) {
        const {
          accounts,
          onTheWay: coming,
          unclear
        } = yield* inTransit.readForPlans(
          contexts.map(({ portfolioId }) => portfolioId),
          (open) => readOutlines(contexts, open, timeout)
        )
        const { outlines, readings } = accounts
        const ofUnclear = new Set(unclear.map(({ portfolioId }) => portfolioId))
        const onTheWay = Map.groupBy(coming, ({ portfolioId }) => portfolioId)
        const wanted = outlines.flatMap(({ ofInterest }, index) =>
          readings[index]!.flatMap((reading) => assetsOfInterest(reading, ofInterest).map(({ assetId }) => assetId))
        )
        const pricing = prices.latest([...new Set(wanted)])
        const priced = yield* Effect.option(timeout === undefined ? Effect.retry(pricing, askAgain) : pricing)
        const known = Option.getOrElse(priced, (): ReadonlyMap<AssetId, Price> => new Map())
        const policyOf = yield* readAppliedPolicies(contexts)
        const readAt = yield* DateTime.now
        const staleBefore = readAt.epochMilliseconds - maxAgeMs
        return outlines.map(({ bridgeAssets, context, ofInterest }, index): PlanReading => {
          const incoming = incomingOf(onTheWay.get(context.portfolioId) ?? [])
          const { acceptedSwap: accepted = null, swap: strategy, tenantSwap: tenant } = context
          const limits = swapLimits({ strategy, tenant, accepted }, swapSettings)
          const chains = readings[index]!.map((reading) =>
            chainState(reading, {
              ofInterest,
              known,
              staleBefore,
              incoming,
              feeBps: venue.assumedFeeBps(reading.authorization.chainId)
            })
          )
          const applied = policyOf[index]
          const policy = applied?.at(valueOfHoldings(chains), limits)
          const input: PlanInput = {
            chains,
            allocation: context.allocation,
            preferences: { thresholdUsd: limits.thresholdUsd },
            feeBps: Math.max(0, ...chains.map(({ feeBps }) => feeBps ?? 0)),
            headroomBps: limits.slippageBps,
            transfers: {
              assets: bridgeAssets,
              feeBps: costBps,
              minUsd,
              refused: closedFor(context.closedRoutes),
              isUnclear: ofUnclear.has(context.portfolioId)
            },
            ...(policy === undefined ? {} : { policy })
          }
          return {
            context,
            readAt,
            limits,
            arePricesKnown: Option.isSome(priced),
            input,
            ...(applied?.slicing === undefined ? {} : { slicing: applied.slicing }),
            accounts: readings[index]!.flatMap(accountOf),
            madeFrom: new Map(readings[index]!.flatMap(momentsOf)),
            behind: readings[index]!.flatMap(({ behind }) => behind ?? []),
            ...authoritiesOf(readings[index]!)
          }
        })
      })

      return PlanReader.of({ read })
    })
  )
}

/** A run reports what it could not read; a drift check has only this log line. */
const reportUnread = (
  chainId: ChainId,
  accounts: number,
  results: ReadonlyArray<Result.Result<AccountBalances, ChainUnavailable>>
) => {
  const unread = accounts - results.filter(Result.isSuccess).length
  const failed = results.find(Result.isFailure)
  return unread === 0
    ? Effect.void
    : Effect.logWarning("Accounts could not be read in a batch, so their portfolios get runs").pipe(
        Effect.annotateLogs({ chainId, unread, reason: failed?.failure.reason ?? "no answer in time" })
      )
}

const outlineOf = (context: PlanContext, transfers: ReadonlyArray<Transfer>): Outline => {
  const authorized = authorizedChains(context.grants)
  const bridgeAssets = bridgeAssetsOf(authorized, new Set(context.awaited))
  const targets = context.allocation.map(({ assetId }) => assetId)
  const moving = new Set([...bridgeAssets.values(), ...transfers.map(({ buy }) => buy)])
  return {
    context,
    authorized,
    bridgeAssets,
    ofInterest: new Set([...targets, ...moving]),
    moving
  }
}
