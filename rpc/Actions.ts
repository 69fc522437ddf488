/**
 * Contract: actions of the agent that owners request. Source: interface "Portfolio action submit";
 * docs/decisions/0167-swaps-by-owners.md, 0197-trades-with-issuers.md.
 */
import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { ReadRoute } from "#domain/order/RouteExtended.ts"
import { EvmAddress } from "#domain/values/Caip.ts"
import { describedParsing } from "#domain/errors/describeIssue.ts"
import * as Errors from "#domain/errors/Errors.ts"
import { IssuerQuoteId, OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { OperationState } from "#domain/operation/Operation.ts"
import { integer } from "#domain/mandate/RebalancePolicy.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { IsAction } from "#rpc/actionProcedure.ts"
import { HiddenDefect } from "#rpc/publicProcedure.ts"
import { SessionAccess } from "#rpc/session/SessionAccess.ts"

const chainId = Schema.String.check(
  Schema.isPattern(/^[1-9][0-9]{0,15}$/u, { expected: 'a chain id in a string, such as "8453"' })
).annotate({ examples: ["8453"] })
const rawAmount = Schema.String.check(
  Schema.isPattern(/^[1-9][0-9]{0,77}$/u, { expected: "an integer above zero in a string" })
).annotate({ examples: ["1500500000"] })
const slippageBps = Schema.optionalKey(integer(0, 1_000, "How far below its quote the swap may yield, in basis points"))

const token = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_.:-]{1,128}$/u, { expected: "1 to 128 letters, digits, `_`, `.`, `:` and `-`" })
).annotate({ examples: ["order-17"] })

const common = {
  portfolioId: PortfolioId,
  /** Id within the portfolio: the request that had it first is answered again as it was, another one is refused. */
  requestId: Schema.optionalKey(token),
  correlationId: Schema.optionalKey(token)
}

/** The service quotes. */
export const BackendQuote = Schema.Struct({
  ...common,
  kind: Schema.Literal("swap_backend_quote"),
  params: Schema.Struct({
    fromChainId: chainId,
    fromTokenAddress: EvmAddress,
    fromAmount: rawAmount,
    toChainId: chainId,
    toTokenAddress: EvmAddress,
    toAddress: EvmAddress,
    slippageBps
  })
})

/** A trade with the issuer of one of both tokens. The recipient is the portfolio's account on the chain. */
const issuerTrade = {
  chainId,
  sellTokenAddress: EvmAddress,
  buyTokenAddress: EvmAddress,
  sellAmount: rawAmount,
  recipientAddress: EvmAddress
}

/** The client has quoted: `route` is a `RouteExtended` of LI.FI's SDK, version 3 or 4. */
const ClientParams = Schema.Struct({
  chainId,
  route: Schema.Unknown,
  slippageBps,
  executionConstraints: Schema.optionalKey(
    Schema.Struct({
      sameChainOnly: Schema.optionalKey(Schema.Boolean),
      expectedVaultChainId: Schema.optionalKey(chainId)
    })
  ),
  provider: Schema.optionalKey(Schema.Literal("lifi"))
})

/**
 * The issuer has quoted: `expectedReceiveAmount` is the `estimatedReceiveAmount` of a preview; without it the swap is
 * refused.
 */
export const IssuerParams = Schema.Struct({
  provider: Schema.Literal("issuer_direct"),
  ...issuerTrade,
  expectedReceiveAmount: Schema.optionalKey(rawAmount)
})

export const Swap = Schema.Struct({
  ...common,
  kind: Schema.Literal("swap"),
  params: Schema.Union([IssuerParams, ClientParams])
})

const decimal = Schema.String.check(Schema.isPattern(/^[0-9]{1,60}(?:\.[0-9]{1,18})?$/u))

/** What the issuer would give now, and until when a swap may name it. */
const IssuerPreview = Schema.Struct({
  quoteId: IssuerQuoteId,
  chainId,
  sellAmount: rawAmount,
  /** Raw units of the bought token. */
  estimatedReceiveAmount: rawAmount,
  /** Price of a whole token of the issuer. */
  priceUsd: decimal,
  /** What the issuer charges beside its price. */
  feeUsd: decimal,
  expiresAt: Schema.String
})

export const decodeRoute = Schema.decodeUnknownEffect(ReadRoute, describedParsing)

const ActionSubmitted = Schema.Struct({
  operationId: OperationId,
  state: OperationState,
  submittedAt: Schema.String,
  correlationId: Schema.String,
  /** `eventId`: of the operation's first event; follow from it at `/v1/executions/{operationId}/stream`. */
  refs: Schema.Struct({ eventId: Schema.String })
})

export const ActionProcedures = RpcGroup.make(
  Rpc.make("v2.portfolio.actions.submit", {
    payload: Schema.Union([BackendQuote, Swap]),
    success: ActionSubmitted,
    error: Schema.Union([
      Errors.PortfolioNotFound,
      Errors.ValidationFailed,
      Errors.ReplayMismatch,
      Errors.IssuerUnavailable
    ]),
    defect: HiddenDefect
  })
    .annotate(IsAction, true)
    .annotate(RateTier, "critical"),
  Rpc.make("v2.portfolio.actions.previewIssuerDirectQuote", {
    payload: Schema.Struct({ portfolioId: PortfolioId, ...issuerTrade }),
    success: IssuerPreview,
    error: Schema.Union([Errors.PortfolioNotFound, Errors.ValidationFailed, Errors.IssuerUnavailable]),
    defect: HiddenDefect
  })
    .annotate(IsAction, true)
    .annotate(RateTier, "critical")
).middleware(SessionAccess)
