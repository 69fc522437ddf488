/** Routes between chains, and of swaps on one, by LI.FI; each checked before it is passed on. Source: LI.FI API v1. */
import { Effect, Layer, Option, Result, Schema } from "effect"
import { chainIdOf } from "#domain/values/Caip.ts"
import {
  type RouteQuote,
  type SwapRequest,
  RouteRefused,
  type RouteRequest,
  type RouteStatus,
  Routing,
  RoutingUnavailable,
  type SentTransfer
} from "#domain/trading/Routing.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { runnerOf } from "#layers/evm/tradeGuard.ts"
import { checkStep } from "#layers/routing/lifi/checkStep.ts"
import { checkSwap } from "#layers/routing/lifi/checkSwap.ts"
import { gasCostOf } from "#layers/routing/lifi/gasCostOf.ts"
import { LifiClient } from "#layers/routing/lifi/LifiClient.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"
import { descriptionFault, type Expected } from "#layers/routing/lifi/stepFault.ts"
import { LifiRoute, LifiRoutes, LifiRouteStep, LifiStatus, LifiStep } from "#layers/routing/lifi/wire.ts"
import { addressOf } from "#layers/evm/address.ts"

const hash = /^0x[0-9a-fA-F]{64}$/u

/** LI.FI's status in our terms. `DONE` means that it ended, not that it went well: the substatus does. */
const statusOf = (sent: SentTransfer, { receiving, status, substatus, substatusMessage }: LifiStatus): RouteStatus => {
  const detail = [status, substatus, substatusMessage].filter((text) => text !== undefined).join(" ")
  if (status === "FAILED") return { _tag: "Failed", reason: detail }
  if (status !== "DONE") return { _tag: "Pending", detail }
  const txHash = receiving?.txHash?.toLowerCase()
  // An end without the transaction that proves it is none yet.
  if (txHash === undefined || !hash.test(txHash)) return { _tag: "Pending", detail: `${detail}, without a transaction` }
  if (substatus === "REFUNDED") return { _tag: "Refunded", txHash }
  if (substatus === "PARTIAL") return { _tag: "Partial", txHash }
  if (substatus !== undefined && substatus !== "COMPLETED") return { _tag: "Pending", detail }
  return receiving?.chainId === sent.toChainId ? { _tag: "Delivered", txHash } : { _tag: "Pending", detail }
}

const decodeRoute = Schema.decodeUnknownOption(LifiRoute)
const decodeStep = Schema.decodeUnknownOption(LifiRouteStep)

/** A route that is one step, with its request, as an offer. */
const offerOf = (expected: Expected, route: unknown): Option.Option<RouteQuote> =>
  Option.gen(function* () {
    const { steps } = yield* decodeRoute(route)
    const { action, estimate, tool } = yield* decodeStep(steps.length === 1 ? steps[0] : undefined)
    const gasUsd = yield* Result.getSuccess(gasCostOf(estimate))
    if (descriptionFault(expected, { action, estimate }) !== undefined) return yield* Option.none()
    const { toAmount, toAmountMin } = estimate
    return { tool, expectedRaw: BigInt(toAmount), minRaw: BigInt(toAmountMin), gasUsd, step: steps[0] }
  })

const maxOffers = 20

export const LifiRouting = Layer.effect(
  Routing,
  Effect.gen(function* () {
    const client = yield* LifiClient
    const { exchanges, integrator } = yield* LifiConfig
    const { chains } = yield* EvmConfig

    const refuse = Effect.fnUntraced(function* (fault: string) {
      yield* Effect.logWarning(`A route of LI.FI was refused: ${fault}`)
      return yield* new RouteRefused({ reason: `The provider's route is not what was asked for: ${fault}` })
    })

    const orRefuse = <A>(checked: Result.Result<A, string>) => Effect.catch(Effect.fromResult(checked), refuse)

    const quote = Effect.fn("Routing.quote")(function* (request: RouteRequest) {
      const { accountId, amountRaw, buy, sell } = request
      const params = {
        fromChain: String(chainIdOf(sell)),
        toChain: String(chainIdOf(buy)),
        fromToken: addressOf(sell),
        toToken: addressOf(buy),
        fromAmount: amountRaw.toString(),
        fromAddress: addressOf(accountId),
        toAddress: addressOf(accountId)
      }
      const step = yield* client.find({ path: "/quote", params, schema: LifiStep })
      if (Option.isNone(step)) return Option.none()
      return Option.some(yield* orRefuse(checkStep(request, step.value)))
    })

    /**
     * Asks with the contract that must be called. The taker is one of our contracts; a previous one was not checked at
     * the start.
     */
    const expectedOf = Effect.fnUntraced(function* ({ amountRaw, buy, sell, taker }: SwapRequest) {
      const chain = chains.find(({ chainId }) => chainId === chainIdOf(sell))
      const isOurs = taker === chain?.routedSwap?.contract || (chain?.guard && taker === runnerOf(chain.guard))
      if (chain?.routedSwap === undefined || !isOurs) {
        return yield* new RoutingUnavailable({
          reason: `The owner allowed ${taker} for routed swaps, which ROUTED_SWAP_${chainIdOf(sell)} does not name`
        })
      }
      return { sell, buy, amountRaw, account: taker, target: chain.routedSwap.target } satisfies Expected
    })

    const swapQuotes = Effect.fn("Routing.swapQuotes")(function* (request: SwapRequest) {
      const expected = yield* expectedOf(request)
      const { account, amountRaw, buy, sell } = expected
      const body = {
        fromChainId: chainIdOf(sell),
        fromTokenAddress: addressOf(sell),
        fromAmount: amountRaw.toString(),
        fromAddress: account,
        toChainId: chainIdOf(buy),
        toTokenAddress: addressOf(buy),
        toAddress: account,
        options: {
          integrator,
          slippage: request.slippageBps / 10_000,
          order: "CHEAPEST",
          allowSwitchChain: false,
          ...(exchanges === null ? {} : { exchanges: { allow: exchanges } })
        }
      }
      const answer = yield* client.post({ path: "/advanced/routes", schema: LifiRoutes }, body)
      return Option.match(answer, {
        onNone: (): ReadonlyArray<RouteQuote> => [],
        onSome: ({ routes }) => routes.slice(0, maxOffers).flatMap((route) => Option.toArray(offerOf(expected, route)))
      })
    })

    const swapCall = Effect.fn("Routing.swapCall")(function* (request: SwapRequest, { step }: RouteQuote) {
      const expected = yield* expectedOf(request)
      // LI.FI's simulation would expect the amount at our contract, which holds none before the swap.
      const answer = yield* client.post(
        { path: "/advanced/stepTransaction", params: { skipSimulation: "true" }, schema: LifiStep },
        step
      )
      if (Option.isNone(answer)) return yield* new RouteRefused({ reason: "The provider no longer offers the route" })
      return yield* orRefuse(checkSwap(expected, answer.value))
    })

    const status = Effect.fn("Routing.status")(function* (sent: SentTransfer) {
      const params = {
        txHash: sent.txHash,
        bridge: sent.tool,
        fromChain: String(sent.fromChainId),
        toChain: String(sent.toChainId)
      }
      const answer = yield* client.find({ path: "/status", params, schema: LifiStatus })
      return Option.match(answer, {
        onNone: (): RouteStatus => ({ _tag: "Pending", detail: "not known to the provider yet" }),
        onSome: (status) => statusOf(sent, status)
      })
    })

    return Routing.of({ quote, swapQuotes, swapCall, status })
  })
).pipe(Layer.provide(LifiClient.layer))
