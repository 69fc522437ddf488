/**
 * Decides what to do next about an owner's swap: a quote within the limits, and a batch that passes simulation. Nothing
 * is sent; may be repeated. The same quotes, limits, guard and simulation as those of a rebalance's trades.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { connectorTokensOf, isGuarded, mayBuy, routedSwapOf } from "#domain/account/Permission.ts"
import { type Grant, grantOn, replacedPermissions } from "#domain/account/Grant.ts"
import type { StoredOrder } from "#domain/order/OrderStore.ts"
import type { ClientRoute, SwapOrder } from "#domain/order/SwapOrder.ts"
import { boundStep } from "#domain/order/boundStep.ts"
import { feedLeg, type FeedLeg } from "#domain/order/feedLeg.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { Balances, momentOf } from "#domain/chain/Balances.ts"
import { diverge, Prices } from "#domain/market/Prices.ts"
import { Closed, type StepOf } from "#domain/relay/ActionStep.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { ActionReceipt, costingWithin, PreparedAction } from "#domain/relay/Transaction.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import { SwapSettings } from "#domain/strategy/SwapSettings.ts"
import { swapLimits } from "#domain/strategy/resolveSwap.ts"
import { BestQuotes } from "#domain/trading/BestQuotes.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { Issuer, IssuerTerms } from "#domain/trading/Issuer.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import { feedMinOutRaw } from "#domain/trading/priceLegs.ts"
import { Routing } from "#domain/trading/Routing.ts"
import {
  assumedExecution,
  issuerExecution,
  type ReadySwap,
  recordedSwap,
  routedExecution,
  Swap
} from "#domain/trading/Swap.ts"
import { Venue } from "#domain/trading/Venue.ts"

/** What preparing an order may come to; of swaps with the swap. */
export const swapSteps = {
  ready: Schema.TaggedStruct("Ready", { prepared: PreparedAction, swap: Schema.optionalKey(Swap) }),
  landed: Schema.TaggedStruct("Landed", { swap: Schema.optionalKey(Swap), receipt: ActionReceipt }),
  last: Closed
}
export type SwapStep = StepOf<typeof swapSteps>

/** How long after its request a swap is still made: a price that its owner saw does not hold for hours. */
const life = { minutes: 15 }

/** The swap cannot be made as things stand. */
class SwapRefused extends Schema.TaggedError<SwapRefused>()("SwapRefused", { reason: Schema.String }) {}

const refuse = (reason: string) => new SwapRefused({ reason })

/** An action that is a swap. */
export type StoredSwap = Omit<StoredOrder, "order"> & { readonly order: SwapOrder }

interface Limits {
  readonly slippageBps: number
  readonly priceImpactBps: number
}

/** What a swap is made within. */
interface SwapTerms {
  /** What the owner lets the agent do on the chain. */
  readonly chain: ChainAuthorization
  readonly leg: PlannedLeg
  readonly limits: Limits
}

/**
 * The next thing to do about an owner's swap.
 *
 * **When to use**
 *
 * Use inside the run of an action, again after each attempt. Trades of a rebalance are prepared by `BatchPreparer`.
 */
export class SwapPreparer extends Context.Service<
  SwapPreparer,
  {
    /** `routed` false: on the venue alone, where the service quotes. */
    readonly next: (action: StoredSwap, routed: boolean) => Effect.Effect<SwapStep>
  }
>()("ballast/domain/order/SwapPreparer") {
  static readonly layer = Layer.effect(
    SwapPreparer,
    Effect.gen(function* () {
      const assets = yield* Assets
      const balances = yield* Balances
      const prices = yield* Prices
      const quotes = yield* BestQuotes
      const routing = yield* Routing
      const venue = yield* Venue
      const issuers = yield* Issuer
      const issuerTerms = yield* IssuerTerms
      const execution = yield* SwapBatches
      const gas = yield* GasBudget
      const { maxAgeMs: priceMaxAgeMs } = yield* PriceSettings
      const swapSettings = yield* SwapSettings

      /** What the account may sell: what it holds, less what withdrawals were promised. */
      const requireHeld = Effect.fnUntraced(function* ({ order, promised }: StoredSwap, permissionId: string) {
        const read = yield* balances.read(order.accountId, [order.sell], { permissionId })
        const held = read.balances.find(({ assetId }) => assetId === order.sell)?.raw ?? null
        if (held === null) return yield* refuse(`${order.sell} does not answer as a token`)
        const kept = promised.reduce((sum, { assetId, raw }) => (assetId === order.sell ? sum + raw : sum), 0n)
        if (held - kept < order.amountRaw) {
          const also = kept === 0n ? "" : `, of which ${kept} are promised to withdrawals`
          return yield* refuse(
            `the account holds ${held} of ${order.sell}${also}, and ${order.amountRaw} would be sold`
          )
        }
        return momentOf(read)
      })

      /** The swap with what it yields at the feed's prices. */
      const legOf = Effect.fnUntraced(function* ({ order }: StoredSwap) {
        const traded = [order.sell, order.buy]
        const facts = {
          assets: yield* assets.find(traded),
          prices: yield* prices.latest(traded),
          now: yield* DateTime.now,
          priceMaxAgeMs,
          feeBps: order.issuer === undefined ? venue.assumedFeeBps(order.chainId) : 0
        }
        return yield* Effect.mapError(Effect.fromResult(feedLeg(order, facts)), refuse)
      })

      /** The issuer's signed offer, requested when all else is ready. It must still yield what a preview showed. */
      const withIssuer = Effect.fnUntraced(function* (
        chain: ChainAuthorization,
        { buy, leg, limits, sell }: FeedLeg & { readonly limits: Limits },
        expectedRaw: bigint
      ) {
        if (!isGuarded(chain))
          return yield* refuse("the agent's permission is from before the trade guard, which issuers need; sign anew")
        const amountRaw = leg.sellAmountRaw
        const { direct, issuer, receiveRaw } = yield* issuers.signedQuote({ sell, buy, amountRaw })
        const { deviationBps } = issuerTerms
        if (diverge(receiveRaw, expectedRaw, deviationBps) || diverge(receiveRaw, leg.expectedBuyRaw, deviationBps)) {
          return yield* refuse(
            `the issuer gives ${receiveRaw} now, more than ${deviationBps} basis points from the ${expectedRaw} that was promised or the ${leg.expectedBuyRaw} of the price feed; preview anew`
          )
        }
        const minOut = feedMinOutRaw(leg, limits)
        if (receiveRaw < minOut)
          return yield* refuse(`the issuer gives ${receiveRaw}, the minimum acceptable is ${minOut}`)
        const swap: ReadySwap = {
          sell: leg.sell,
          buy: leg.buy,
          sellAmountRaw: amountRaw,
          minBuyAmountRaw: receiveRaw,
          expectedBuyRaw: expectedRaw,
          execution: issuerExecution(leg, direct),
          tool: issuer
        }
        return swap
      })

      /** The client's route, as the provider has it now and for no less than the client was promised. */
      const overRoute = Effect.fnUntraced(function* (
        { chain, leg, limits }: SwapTerms,
        order: SwapOrder,
        route: ClientRoute
      ) {
        const { chainId } = chain
        const contract = routedSwapOf(chain)
        if (contract === undefined)
          return yield* refuse(`no contract of chain ${chainId} takes routes for this account`)
        const { buy, sell, sellAmountRaw: amountRaw } = leg
        const step = boundStep(route.step, contract, order.slippageBps)
        const { minRaw, tool } = route
        const request = { sell, buy, amountRaw, taker: contract, slippageBps: limits.slippageBps }
        const call = yield* routing.swapCall(request, { tool, expectedRaw: minRaw, minRaw, gasUsd: 0n, step })
        const [quote = null] = yield* venue.quote({
          chainId,
          connectorTokens: connectorTokensOf(chain),
          requests: [leg]
        })
        const held = quote?.execution ?? (isGuarded(chain) ? assumedExecution(leg) : undefined)
        if (held === undefined) return yield* refuse("the venue has no price that the route could be held against")
        const ownMinOut = feedMinOutRaw(leg, limits, quote?.furtherFeeBps)
        const minOut = ownMinOut > minRaw ? ownMinOut : minRaw
        if (call.minRaw < minOut) {
          return yield* refuse(
            `the route may yield ${call.minRaw} now, the minimum acceptable is ${minOut}; quote anew`
          )
        }
        const swap: ReadySwap = {
          sell,
          buy,
          sellAmountRaw: amountRaw,
          minBuyAmountRaw: call.minRaw,
          execution: routedExecution(held, { contract, data: call.data }),
          tool: call.tool
        }
        return swap
      })

      const quoted = Effect.fnUntraced(function* ({ chain, leg, limits }: SwapTerms, routed: boolean) {
        const { skips, swaps } = yield* quotes.price(chain, [leg], { limits, routed })
        const [swap] = swaps
        return swap ?? (yield* refuse(skips.map(({ reason }) => reason).join("; ") || "no venue quotes this pair"))
      })

      const requireGrant = Effect.fnUntraced(function* ({ grants, isRevoked, order }: StoredSwap) {
        const grant = grantOn(grants, order.chainId)
        const chain = grant?.authorization.chains.find(({ chainId }) => chainId === order.chainId)
        if (isRevoked) return yield* refuse("the owner revoked the agent's permission; sign anew first")
        if (grant === undefined || chain === undefined)
          return yield* refuse(`the owner did not authorize chain ${order.chainId}`)
        if (!mayBuy(chain, order.buy))
          return yield* refuse(`the owner's grant does not let the agent buy ${order.buy}; sign a new one`)
        return { grant, chain } satisfies { readonly grant: Grant; readonly chain: ChainAuthorization }
      })

      const prepare = Effect.fnUntraced(function* (action: StoredSwap, routed: boolean) {
        const { grants, order, portfolioId, tenantId } = action
        const { chain, grant } = yield* requireGrant(action)
        const spent = yield* gas.refusal({ tenantId, portfolioId })
        if (Option.isSome(spent)) return yield* refuse(spent.value)
        const madeFrom = yield* requireHeld(action, chain.permissionId)
        const found = yield* legOf(action)
        const { leg } = found
        const own = swapLimits(action.swap, swapSettings)
        const limits = { slippageBps: order.slippageBps ?? own.slippageBps, priceImpactBps: own.priceImpactBps }
        const terms: SwapTerms = { chain, leg, limits }
        const { issuer, route } = order
        const swap =
          issuer !== undefined
            ? yield* withIssuer(chain, { ...found, limits }, issuer.expectedRaw)
            : route === undefined
              ? yield* quoted(terms, routed)
              : yield* overRoute(terms, order, route)
        const replaced = replacedPermissions(grants, order.chainId)
        const prepared = yield* execution.prepare({
          chainId: order.chainId,
          ...grant,
          swaps: [swap],
          replaced,
          madeFrom,
          operationId: action.operationId
        })
        const waste = yield* gas.waste(prepared, leg.valueUsd)
        if (Option.isSome(waste)) return yield* refuse(waste.value)
        const bounded = costingWithin(prepared, yield* gas.ceilings(prepared, leg.valueUsd))
        return { _tag: "Ready", prepared: bounded, swap: recordedSwap(swap) } satisfies SwapStep
      })

      const next = Effect.fn("SwapPreparer.next")(function* (action: StoredSwap, routed: boolean) {
        const until = DateTime.add(action.submittedAt, life)
        if (DateTime.isGreaterThan(yield* DateTime.now, until)) {
          return {
            _tag: "Closed",
            reason: "the swap was not possible within 15 minutes; ask for it anew"
          } satisfies SwapStep
        }
        const waiting = ({ message }: { readonly message: string }) =>
          Effect.succeed<SwapStep>({ _tag: "Waiting", reason: message })
        const refused = ({ reason }: { readonly reason: string }) =>
          Effect.succeed<SwapStep>({ _tag: "Refused", reason })
        return yield* prepare(action, routed).pipe(
          Effect.map((step): SwapStep => step),
          Effect.catchTags({
            ChainUnavailable: waiting,
            PricesUnavailable: waiting,
            RoutingUnavailable: waiting,
            IssuerSilent: waiting,
            IssuerRefused: ({ message }) => refused({ reason: message }),
            RouteRefused: refused,
            SimulationFailed: refused,
            AuthorizationRequired: refused,
            SwapRefused: refused
          })
        )
      })

      return SwapPreparer.of({ next })
    })
  ).pipe(Layer.provide(BestQuotes.layer))
}
