/** Routes between chains by LI.FI, each checked before it is passed on. Source: LI.FI API v1. */
import { Effect, Layer, Option } from "effect"
import { addressOf, chainIdOf } from "#domain/Caip.ts"
import {
  RouteRefused,
  type RouteRequest,
  type RouteStatus,
  Routing,
  type SentTransfer
} from "#domain/routing/Routing.ts"
import { checkStep } from "#layers/routing/lifi/checkStep.ts"
import { LifiClient } from "#layers/routing/lifi/LifiClient.ts"
import { statusOf } from "#layers/routing/lifi/statusOf.ts"
import { LifiStatus, LifiStep } from "#layers/routing/lifi/wire.ts"

export const RoutingLive = Layer.effect(
  Routing,
  Effect.gen(function* () {
    const client = yield* LifiClient

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
      const step = yield* client.find("/quote", params, LifiStep)
      if (Option.isNone(step)) return Option.none()
      const route = checkStep(request, step.value)
      if (typeof route !== "string") return Option.some(route)
      yield* Effect.logWarning(`A route of LI.FI was refused: ${route}`)
      return yield* new RouteRefused({ reason: `The provider's route is not what was asked for: ${route}` })
    })

    const status = Effect.fn("Routing.status")(function* (sent: SentTransfer) {
      const params = {
        txHash: sent.txHash,
        bridge: sent.tool,
        fromChain: String(sent.fromChainId),
        toChain: String(sent.toChainId)
      }
      const answer = yield* client.find("/status", params, LifiStatus)
      return Option.match(answer, {
        onNone: (): RouteStatus => ({ _tag: "Pending", detail: "not known to the provider yet" }),
        onSome: (status) => statusOf(sent, status)
      })
    })

    return Routing.of({ quote, status })
  })
).pipe(Layer.provide(LifiClient.layer))
