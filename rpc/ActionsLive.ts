import { DateTime, Effect, type Schema, SchemaIssue } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { chainIdIn } from "#domain/values/Caip.ts"
import type { OrderRequest } from "#domain/order/OrderRequest.ts"
import type { RouteExtended } from "#domain/order/RouteExtended.ts"
import { Orders } from "#domain/order/Orders.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { cursorOf, writeCursor } from "#domain/execution/ExecutionCursor.ts"
import { IssuerQuotes, type IssuerTradeRequest } from "#domain/order/IssuerQuotes.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { ActionProcedures, type BackendQuote, decodeRoute, type IssuerParams, type Swap } from "#rpc/Actions.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Most problems of a route that one answer lists. */
const maxDetails = 50

const routeInvalid = ({ issue }: Schema.SchemaError) =>
  new ValidationFailed({
    message: "The route is not a RouteExtended of LI.FI's SDK; details name each field",
    details: format(issue)
      .issues.slice(0, maxDetails)
      .map(
        ({ message, path }) => `${["params", "route", ...(path ?? []).map(String)].join(".")}: ${message.slice(0, 200)}`
      )
  })

type Sent = typeof BackendQuote.Type | typeof Swap.Type

type IssuerTrade = Omit<typeof IssuerParams.Type, "provider" | "expectedReceiveAmount">
type AskedPreview = IssuerTrade & { readonly portfolioId: PortfolioId }

const issuerTradeOf = ({
  buyTokenAddress,
  chainId,
  recipientAddress,
  sellAmount,
  sellTokenAddress
}: IssuerTrade): IssuerTradeRequest => ({
  chainId: chainIdIn(chainId),
  sellToken: sellTokenAddress,
  buyToken: buyTokenAddress,
  sellAmountRaw: BigInt(sellAmount),
  recipient: recipientAddress
})

const swapOf = Effect.fnUntraced(function* (sent: Sent): Effect.fn.Return<OrderRequest["swap"], ValidationFailed> {
  if (sent.kind === "swap_backend_quote") {
    const { fromAmount, fromChainId, fromTokenAddress, slippageBps, toAddress, toChainId, toTokenAddress } = sent.params
    return {
      kind: sent.kind,
      fromChainId: chainIdIn(fromChainId),
      fromToken: fromTokenAddress,
      fromAmountRaw: BigInt(fromAmount),
      toChainId: chainIdIn(toChainId),
      toToken: toTokenAddress,
      toAddress,
      slippageBps: slippageBps ?? null
    }
  }
  const { params } = sent
  if (params.provider === "issuer_direct") {
    const { expectedReceiveAmount } = params
    const expectedRaw = expectedReceiveAmount === undefined ? null : BigInt(expectedReceiveAmount)
    return { kind: params.provider, ...issuerTradeOf(params), expectedRaw }
  }
  const { chainId, executionConstraints = {}, route, slippageBps } = params
  const read = yield* Effect.mapError(decodeRoute(route), routeInvalid)
  const { expectedVaultChainId, sameChainOnly = false } = executionConstraints
  return {
    kind: sent.kind,
    chainId: chainIdIn(chainId),
    // The decoded fields show that it has this form.
    route: { read, sent: route as RouteExtended["sent"] },
    slippageBps: slippageBps ?? null,
    constraints: {
      sameChainOnly,
      expectedVaultChainId: expectedVaultChainId === undefined ? null : chainIdIn(expectedVaultChainId)
    }
  }
})

export const ActionsLive = ActionProcedures.toLayer(
  Effect.map(Effect.all([Orders, IssuerQuotes]), ([actions, issuers]) => ({
    "v2.portfolio.actions.submit": Effect.fnUntraced(function* (sent: Sent) {
      const swap = yield* swapOf(sent)
      const span = yield* Effect.option(Effect.currentParentSpan)
      const traceId = span._tag === "Some" ? span.value.traceId : "untraced"
      const { correlationId, operationId, submittedAt } = yield* actions.submit({
        portfolioId: sent.portfolioId,
        requestId: sent.requestId ?? null,
        correlationId: sent.correlationId ?? traceId,
        swap
      })
      return {
        operationId,
        state: "accepted" as const,
        submittedAt: DateTime.formatIso(submittedAt),
        correlationId,
        refs: { eventId: writeCursor(cursorOf(submittedAt, 1)) }
      }
    }),
    "v2.portfolio.actions.previewIssuerDirectQuote": Effect.fnUntraced(function* ({
      portfolioId,
      ...trade
    }: AskedPreview) {
      const quote = yield* issuers.preview(portfolioId, issuerTradeOf(trade))
      return {
        quoteId: quote.quoteId,
        chainId: String(quote.chainId),
        sellAmount: String(quote.amountRaw),
        estimatedReceiveAmount: String(quote.receiveRaw),
        priceUsd: Decimal.format(quote.priceUsd, 18),
        feeUsd: Decimal.formatUsd(quote.feeUsd),
        expiresAt: DateTime.formatIso(quote.expiresAt)
      }
    })
  }))
).pipe(buildWith(Orders, IssuerQuotes))
