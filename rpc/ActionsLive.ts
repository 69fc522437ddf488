import { DateTime, Effect, type Schema, SchemaIssue } from "effect"
import type { ActionRequest } from "#domain/action/ActionRequest.ts"
import type { RouteExtended } from "#domain/action/RouteExtended.ts"
import { Actions } from "#domain/action/Actions.ts"
import { ValidationFailed } from "#domain/Errors.ts"
import { cursorOf, writeCursor } from "#domain/execution/ExecutionCursor.ts"
import { ActionProcedures, type BackendQuote, type ClientSwap, decodeRoute } from "#rpc/Actions.ts"

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

type Sent = typeof BackendQuote.Type | typeof ClientSwap.Type

const swapOf = Effect.fnUntraced(function* (sent: Sent): Effect.fn.Return<ActionRequest["swap"], ValidationFailed> {
  if (sent.kind === "swap_backend_quote") {
    const { fromAmount, fromChainId, fromTokenAddress, slippageBps, toAddress, toChainId, toTokenAddress } = sent.params
    return {
      kind: sent.kind,
      fromChainId: Number(fromChainId),
      fromToken: fromTokenAddress,
      fromAmountRaw: BigInt(fromAmount),
      toChainId: Number(toChainId),
      toToken: toTokenAddress,
      toAddress,
      slippageBps: slippageBps ?? null
    }
  }
  const { chainId, executionConstraints = {}, route, slippageBps } = sent.params
  const read = yield* Effect.mapError(decodeRoute(route), routeInvalid)
  const { expectedVaultChainId, sameChainOnly = false } = executionConstraints
  return {
    kind: sent.kind,
    chainId: Number(chainId),
    // What was read of it says that it has this form.
    route: { read, sent: route as RouteExtended["sent"] },
    slippageBps: slippageBps ?? null,
    constraints: {
      sameChainOnly,
      expectedVaultChainId: expectedVaultChainId === undefined ? null : Number(expectedVaultChainId)
    }
  }
})

export const ActionsLive = ActionProcedures.toLayer(
  Effect.map(Actions, (actions) => ({
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
    })
  }))
)
