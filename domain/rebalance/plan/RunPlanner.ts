/**
 * Reads a portfolio as it stands, values it, and plans its rebalance. So whatever a plan is made from was valued before
 * it is traded, and money that came in since the last valuation is cash flow.
 *
 * A transfer is in the plan only when it could be made at that moment: what is to be sold for it and its route are
 * quoted, and where that is refused all chains are planned again without that way. So no chain keeps anything back for
 * what will not come. Quoting reads only, so planning may be repeated at any time.
 */
import { Context, DateTime, Duration, Effect, Layer, Struct } from "effect"
import { grantOn } from "#domain/account/Grant.ts"
import { connectorTokensOf } from "#domain/account/Permission.ts"
import { type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { type ChainPair, type ChainPlan, feeBpsOn, type Leg, type Plan, type PlanInput } from "#domain/planning/Plan.ts"
import type { ChainGas } from "#domain/planning/PlanPolicy.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import { PlanReader, type PlanReading } from "#domain/rebalance/plan/PlanReader.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { PlanContext, RunContext } from "#domain/rebalance/RunStore.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { chainSkip, type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import { promisedRaw, withQuotedCosts } from "#domain/rebalance/plan/quotedCosts.ts"
import { ChainQuotes } from "#domain/trading/ChainQuotes.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import { quoteRequests } from "#domain/trading/priceSale.ts"
import { Venue } from "#domain/trading/Venue.ts"
import * as Weight from "#domain/values/Weight.ts"

/** Plans that are quoted. When the last of them is refused in part, nothing moves between chains in this run. */
const maxQuoted = 4

/** A plan older than this is made anew before it is acted on. */
const planLife = Duration.minutes(2)

/** The part of a run's plan that is carried out on one chain. */
export interface ChainPlanOfRun extends Pick<RunPlan, "limits"> {
  readonly chain: PlannedChain
}

/** A plan that is to be carried out on a chain. */
export interface PlannedAttempt {
  readonly attempt: AttemptId
  readonly plan: RunPlan
  readonly context: RunContext
  /** False: the chain has refused a batch of the plan, which may be because the account has changed. */
  readonly isFirstTry: boolean
}

/** What a plan must leave out beside what it leaves out by itself. */
export interface TransferConstraint {
  /** Chain that nothing leaves, because no transfer could be arranged. */
  readonly excludedSource: ChainId
}

/**
 * The plan of one run.
 *
 * **When to use**
 *
 * Use `plan` in a run, and `preview` where nothing may be recorded.
 */
export class RunPlanner extends Context.Service<
  RunPlanner,
  {
    /** Never fails for an outside reason: a chain, price or route that cannot be had is a skip of the plan. */
    readonly plan: (context: PlanContext, constraint?: TransferConstraint) => Effect.Effect<RunPlan>
    /** Plans for a preview: nothing is recorded. */
    readonly preview: (context: PlanContext) => Effect.Effect<RunPlan>
  }
>()("ballast/domain/rebalance/RunPlanner") {
  static readonly layer = Layer.effect(
    RunPlanner,
    Effect.gen(function* () {
      const reader = yield* PlanReader
      const valuer = yield* PortfolioValuer
      const quotes = yield* ChainQuotes
      const venue = yield* Venue

      /**
       * The transfers of a chain's plan that cannot be made now. A chain that does not answer is left to the trading.
       */
      const refusedOn = Effect.fnUntraced(
        function* (context: PlanContext, limits: RunPlan["limits"], chain: ChainPlan) {
          const { chainId, legs, transfers } = chain
          const authorization = authorizationOn(context, chainId)
          if (transfers.length === 0 || authorization === undefined) return []
          const quote = (routed: boolean) => quotes.quote(authorization, { legs, transfers }, { limits, routed })
          const onVenue = yield* quote(false)
          // The provider's requests are limited: its swaps are requested only where a transfer lacks what the venue
          // refuses.
          const isShort = onVenue.refused.length > 0 && onVenue.skips.length > 0
          const { refused } = isShort ? yield* quote(true) : onVenue
          return refused.map(({ planned, skip }): Refusal => ({ from: chainId, to: chainIdOf(planned.buy), skip }))
        },
        Effect.orElseSucceed((): ReadonlyArray<Refusal> => [])
      )

      /** What the venue pays for the legs of a chain's plan; nothing is known where the chain does not answer. */
      const quoteLegs = (context: PlanContext, limits: RunPlan["limits"]) => (chain: ChainPlan) => {
        const { chainId, legs } = chain
        const authorization = authorizationOn(context, chainId)
        if (authorization === undefined) return Effect.succeed([])
        const requests = quoteRequests(chainId, legs, limits)
        return Effect.orElseSucceed(
          venue.quote({ chainId, connectorTokens: connectorTokensOf(authorization), requests }),
          (): ReadonlyArray<null> => []
        )
      }

      const planQuoted = Effect.fnUntraced(function* (
        { context, input, limits }: PlanTask,
        constraint: TransferConstraint | undefined
      ) {
        const chainIds = input.chains.map(({ chainId }) => chainId)
        const kept = constraint === undefined ? [] : pairsFrom([constraint.excludedSource], chainIds)
        const refusals: Array<Refusal> = []
        for (let quoted = 1; quoted <= maxQuoted; quoted += 1) {
          const planned = plan(without(input, [...kept, ...refusals]))
          const found = yield* Effect.forEach(planned.chains, (chain) => refusedOn(context, limits, chain), {
            concurrency: "unbounded"
          })
          if (found.flat().length === 0) return { planned, refusals }
          refusals.push(...found.flat())
        }
        return { planned: plan(without(input, pairsFrom(chainIds, chainIds))), refusals }
      })

      const planFrom = Effect.fnUntraced(function* (reading: PlanReading, constraint: TransferConstraint | undefined) {
        const { arePricesKnown, context, input: read, readAt } = reading
        const limits = limitsOf(reading)
        const input = yield* withQuotedCosts(read, quoteLegs(context, limits))
        const { planned, refusals } = yield* planQuoted({ context, limits, input }, constraint)
        const { chains, ...rest } = toRunPlan({ limits, input, madeFrom: reading.madeFrom }, planned, refusals)
        return {
          strategyVersion: context.strategyVersion,
          plannedAt: readAt,
          ...(context.closedRoutes.length === 0 ? {} : { hasClosedRoutes: true }),
          ...(reading.behind.length === 0 ? {} : { behind: reading.behind.join("; ") }),
          ...(reading.authorities === undefined ? {} : { authorities: reading.authorities }),
          ...rest,
          chains: arePricesKnown
            ? chains
            : chains.map((chain) => ({ ...chain, skips: [...chain.skips, unpriced(chain.chainId, context)] }))
        }
      })

      const read = (context: PlanContext) => Effect.map(reader.read([context]), ([reading]) => reading!)

      return RunPlanner.of({
        plan: Effect.fn("RunPlanner.plan")(function* (context: PlanContext, constraint?: TransferConstraint) {
          const reading = yield* read(context)
          yield* valuer.valueFrom(context.portfolioId, reading.accounts)
          return yield* planFrom(reading, constraint)
        }),
        preview: Effect.fn("RunPlanner.preview")((context: PlanContext) =>
          Effect.flatMap(read(context), (reading) => planFrom(reading, undefined))
        )
      })
    })
  ).pipe(Layer.provide([PlanReader.layer, PortfolioValuer.layer, ChainQuotes.layer]))
}

/**
 * What a run has to do on one chain now. A plan that has aged, because the service was down, and any plan that was
 * acted on before, is made anew: whatever happened meanwhile, a trade that is no longer needed is not made.
 */
export const currentPlanOn = Effect.fnUntraced(function* (
  planner: Pick<RunPlanner["Service"], "plan">,
  { attempt: { attempt, chainId }, context, isFirstTry, plan: planned }: PlannedAttempt
) {
  const age = DateTime.distance(planned.plannedAt, yield* DateTime.now)
  const isCurrent = isFirstTry && attempt === 1 && Duration.isLessThanOrEqualTo(age, planLife)
  return partOf(isCurrent ? planned : yield* planner.plan(context), chainId)
})

/** A new plan, in which nothing leaves the chain. */
export const planWithoutTransfers = (
  planner: Pick<RunPlanner["Service"], "plan">,
  context: PlanContext,
  chainId: ChainId
): Effect.Effect<ChainPlanOfRun> =>
  Effect.map(planner.plan(context, { excludedSource: chainId }), (planned) => partOf(planned, chainId))

const partOf = ({ chains, limits }: RunPlan, chainId: ChainId): ChainPlanOfRun => ({
  limits,
  chain: chains.find((planned) => planned.chainId === chainId) ?? { chainId, legs: [], skips: [] }
})

export const unpriced = (chainId: ChainId, { allocation }: Pick<PlanContext, "allocation">): RecordedSkip => {
  const due = allocation.reduce((sum, { assetId, weight }) => (chainIdOf(assetId) === chainId ? sum + weight : sum), 0)
  return chainSkip(
    SkipCode.pricesUnavailable,
    `No price source answered, so nothing of the chain's ${Weight.format(due)} percent of the portfolio is traded; the next run tries again.`
  )
}

/** What a portfolio is planned from. */
interface PlanTask {
  readonly context: PlanContext
  readonly limits: RunPlan["limits"]
  readonly input: PlanInput
}

/** A route between chains on which nothing can be sent now, and why. */
interface Refusal extends ChainPair {
  readonly skip: RecordedSkip
}

const pairsFrom = (senders: ReadonlyArray<ChainId>, chainIds: ReadonlyArray<ChainId>): ReadonlyArray<ChainPair> =>
  senders.flatMap((from) => chainIds.map((to) => ({ from, to })))

const without = ({ transfers, ...input }: PlanInput, refused: ReadonlyArray<ChainPair>): PlanInput =>
  transfers === undefined
    ? input
    : { ...input, transfers: { ...transfers, refused: [...(transfers.refused ?? []), ...refused] } }

const authorizationOn = ({ grants }: PlanContext, chainId: ChainId) =>
  grantOn(grants, chainId)?.authorization.chains.find((authorized) => authorized.chainId === chainId)

const limitsOf = ({ input, limits: { priceImpactBps, slippageBps }, slicing }: PlanReading): RunPlan["limits"] => {
  const gas = input.policy?.gas ?? new Map<ChainId, ChainGas>()
  return {
    slippageBps,
    priceImpactBps,
    ...(slicing === undefined ? {} : { slicing }),
    ...(gas.size === 0 ? {} : { swapGas: [...gas].map(([chainId, { swapUsd: usd }]) => ({ chainId, usd })) })
  }
}

/** The leg as a run keeps it: what it should yield is by the feed's prices, also where it was planned at quotes. */
const toPlannedLeg = (leg: Leg, input: PlanInput): PlannedLeg => {
  const { chains, policy } = input
  const planned = Struct.omit(leg, ["chainId"])
  if (policy?.pairCosts === undefined) return planned
  const holdings = chains.find(({ chainId }) => chainId === leg.chainId)!.holdings
  return { ...planned, expectedBuyRaw: promisedRaw(leg, holdings, feeBpsOn(input, leg.chainId)) }
}

const toPlannedChain = (
  { chainId, legs, measures, skips, transfers }: ChainPlan,
  { input, madeFrom }: Pick<PlannedFrom, "input" | "madeFrom">,
  refusals: ReadonlyArray<Refusal>
): PlannedChain => ({
  chainId,
  ...(madeFrom.has(chainId) ? { madeFrom: madeFrom.get(chainId)! } : {}),
  ...(transfers.length === 0
    ? {}
    : { transfers: transfers.map((transfer) => Struct.omit(transfer, ["fromChainId", "toChainId"])) }),
  legs: legs.map((leg) => toPlannedLeg(leg, input)),
  ...(measures === undefined ? {} : { measures }),
  skips: [
    ...skips.map((skip) => Struct.omit(skip, ["chainId"])),
    ...refusals.filter(({ from }) => from === chainId).map(({ skip }) => skip)
  ]
})

interface PlannedFrom extends Pick<PlanTask, "input" | "limits"> {
  readonly madeFrom: PlanReading["madeFrom"]
}

const toRunPlan = (
  { input, limits, madeFrom }: PlannedFrom,
  { chains }: Plan,
  refusals: ReadonlyArray<Refusal>
): Pick<RunPlan, "limits" | "chains"> => ({
  limits,
  chains: chains.map((chain) => toPlannedChain(chain, { input, madeFrom }, refusals))
})
