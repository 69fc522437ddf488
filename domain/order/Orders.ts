/**
 * Requests of owners, by their wallets' sessions, for actions of the agent. Faults that show in the request alone are
 * refused here; markets and chains are checked in the run. Source: interface "Portfolio action submit".
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import {
  type OrderRequest,
  type QuotedByClient,
  type QuotedByService,
  actionRequestBytes
} from "#domain/order/OrderRequest.ts"
import { type AcceptedOrder, type OrderSource, OrderStore, type OrderSubmission } from "#domain/order/OrderStore.ts"
import { routeFaults } from "#domain/order/checkRoute.ts"
import { IssuerQuotes } from "#domain/order/IssuerQuotes.ts"
import { accountOn, noAccount, ownPortfolio, refusedSwap } from "#domain/order/ownPortfolio.ts"
import type { SwapOrder } from "#domain/order/SwapOrder.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { addressOf, erc20 } from "#domain/values/Caip.ts"
import {
  type IssuerUnavailable,
  type PortfolioNotFound,
  ReplayMismatch,
  type ValidationFailed
} from "#domain/errors/Errors.ts"
import type { SignedIn } from "#domain/identity/SignedIn.ts"
import { makeOperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { revokedRefusal } from "#domain/portfolio/Portfolios.ts"

export type OrderError = PortfolioNotFound | ValidationFailed | ReplayMismatch | IssuerUnavailable

/**
 * Orders requested by owners.
 *
 * **When to use**
 *
 * Use in procedures that act for a wallet's session. The actions of an integrator's API key are
 * `DirectExecutions`.
 */
export class Orders extends Context.Service<
  Orders,
  {
    /** Idempotent on `requestId` within the portfolio. Portfolios of other owners are not there. */
    readonly submit: (request: OrderRequest) => Effect.Effect<AcceptedOrder, OrderError, SignedIn>
  }
>()("ballast/domain/order/Orders") {
  static readonly layer = Layer.effect(
    Orders,
    Effect.gen(function* () {
      const store = yield* OrderStore
      const issuers = yield* IssuerQuotes
      const assets = yield* Assets
      const launcher = yield* OperationLauncher
      const digest = yield* Digest.Digest
      const random = yield* SecureRandom.SecureRandom

      const requireTradable = Effect.fnUntraced(function* (order: SwapOrder, fields: Fields) {
        const known = yield* assets.find([order.sell, order.buy])
        const details = (["sell", "buy"] as const).flatMap((side) => {
          const asset = known.get(order[side])
          if (asset === undefined) return [`params.${fields[side]}: ${order[side]} is not in the asset catalogue`]
          return asset.isBlocked ? [`params.${fields[side]}: ${order[side]} is not traded here`] : []
        })
        if (details.length > 0) return yield* refusedSwap(details)
        return order
      })

      const orderOf = (swap: OrderRequest["swap"], source: OrderSource) => {
        switch (swap.kind) {
          case "swap":
            return Effect.flatMap(orderOfClient(swap, source), (one) => requireTradable(one, clientFields))
          case "issuer_direct":
            return Effect.flatMap(issuers.order(source, swap), (one) => requireTradable(one, issuerFields))
          case "swap_backend_quote":
            return Effect.flatMap(orderOfService(swap, source), (one) => requireTradable(one, serviceFields))
        }
      }

      const answered = (submission: OrderSubmission) =>
        submission._tag === "Mismatch"
          ? new ReplayMismatch({ message: "This requestId was used with another request; draw a new one" })
          : Effect.succeed(submission.accepted)

      const submit = Effect.fn("Orders.submit")(function* (request: OrderRequest) {
        const { correlationId, portfolioId, requestId, swap } = request
        const source = yield* ownPortfolio(store, portfolioId)
        const requestHash = yield* digest.digest(Digest.sha256, actionRequestBytes(request))
        // Before anything that changes with time: a request that was accepted once is answered the same for ever.
        const before = requestId === null ? Option.none() : yield* store.replay(portfolioId, requestId, requestHash)
        if (Option.isSome(before)) return yield* answered(before.value)
        if (source.isRevoked) return yield* revokedRefusal(portfolioId)
        const order = yield* orderOf(swap, source)
        const operationId = yield* Effect.provideService(makeOperationId, SecureRandom.SecureRandom, random)
        const submission = yield* store.submit({
          operationId,
          submittedAt: yield* DateTime.now,
          correlationId,
          tenantId: source.tenantId,
          portfolioId,
          requestId,
          requestHash,
          order
        })
        // A launch that fails leaves an accepted operation, which the scheduler launches.
        if (submission._tag === "Accepted") {
          yield* Effect.catchDefect(launcher.launch({ operationId, kind: "swap" }), (defect) =>
            Effect.logWarning("The launch of a swap is left to the scheduler", defect)
          )
        }
        return yield* answered(submission)
      })

      return Orders.of({ submit })
    })
  )
}

/** How the request calls what is sold and bought. */
interface Fields {
  readonly sell: string
  readonly buy: string
}
const clientFields: Fields = { sell: "route.fromToken", buy: "route.toToken" }
const issuerFields: Fields = { sell: "sellTokenAddress", buy: "buyTokenAddress" }
const serviceFields: Fields = { sell: "fromTokenAddress", buy: "toTokenAddress" }

const orderOfService = Effect.fnUntraced(function* (swap: QuotedByService, source: OrderSource) {
  const { fromAmountRaw, fromChainId: chainId, fromToken, slippageBps, toAddress, toChainId, toToken } = swap
  const accountId = accountOn(source, chainId)
  if (accountId === undefined) return yield* noAccount("fromChainId", chainId)
  const details = [
    ...(toChainId === chainId ? [] : ["params.toChainId: must be fromChainId; swaps between chains are not offered"]),
    ...(toAddress === addressOf(accountId)
      ? []
      : [`params.toAddress: must be the portfolio's account, ${addressOf(accountId)}; withdraw what leaves it`]),
    ...(fromToken === toToken ? ["params.toTokenAddress: must be another token than fromTokenAddress"] : [])
  ]
  if (details.length > 0) return yield* refusedSwap(details)
  const order: SwapOrder = {
    _tag: "Swap",
    chainId,
    accountId,
    sell: erc20(chainId, fromToken),
    buy: erc20(chainId, toToken),
    amountRaw: fromAmountRaw,
    slippageBps
  }
  return order
})

const bps = 10_000n

const orderOfClient = Effect.fnUntraced(function* (swap: QuotedByClient, source: OrderSource) {
  const { read, sent } = swap.route
  const accountId = accountOn(source, swap.chainId)
  if (accountId === undefined) return yield* noAccount("chainId", swap.chainId)
  const details = routeFaults(swap, addressOf(accountId))
  if (details.length > 0) return yield* refusedSwap(details)
  const { chainId, slippageBps } = swap
  const order: SwapOrder = {
    _tag: "Swap",
    chainId,
    accountId,
    sell: erc20(chainId, read.fromToken.address),
    buy: erc20(chainId, read.toToken.address),
    amountRaw: BigInt(read.fromAmount),
    slippageBps,
    route: {
      tool: read.steps[0]!.tool,
      step: sent.steps[0],
      minRaw:
        slippageBps === null ? BigInt(read.toAmountMin) : (BigInt(read.toAmount) * (bps - BigInt(slippageBps))) / bps
    }
  }
  return order
})
