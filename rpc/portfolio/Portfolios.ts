/**
 * Contract: portfolios for people who signed in: those of their wallet, and those of the tenant that they are a member
 * of. The shapes are those of REST. Source: docs/decisions/0315-portfolios-of-people.md.
 */
import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { WalletId } from "#domain/values/Caip.ts"
import * as Errors from "#domain/errors/Errors.ts"
import { utcFromText } from "#domain/values/UtcFromText.ts"
import { OperationId, PortfolioId, StrategyId } from "#domain/values/Ids.ts"
import { OperationKind, OperationState } from "#domain/operation/Operation.ts"
import { ScheduleStatus } from "#domain/portfolio/Portfolio.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { OperationDetail, OperationItem, Submitted } from "#http/operation/OperationModel.ts"
import { PortfolioPerformance } from "#http/performance/PerformanceModel.ts"
import { PortfolioPolicy } from "#http/portfolio/PolicyModel.ts"
import { PortfolioDetail, PortfolioItem } from "#http/portfolio/PortfolioModel.ts"
import { Positions } from "#http/portfolio/PositionsModel.ts"
import { PlanHash, Preview } from "#http/portfolio/PreviewModel.ts"
import { pageInput } from "#rpc/pageInput.ts"
import { HiddenDefect, publicRead } from "#rpc/publicProcedure.ts"
import { SessionAccess } from "#rpc/session/SessionAccess.ts"

const defect = HiddenDefect
/** Changes nothing, as those that need no session. */
const read = publicRead

const one = { portfolioId: PortfolioId }
const nextCursor = Schema.NullOr(Schema.String)
const notFound = Errors.NotFound

/** `PermissionDenied`: the person may see the portfolio, and not do this with it. */
const refusals = [Errors.PortfolioNotFound, Errors.ValidationFailed, Errors.PermissionDenied] as const

export const PortfolioProcedures = RpcGroup.make(
  // Newest first. Labels of a portfolio are shown to members of its tenant alone.
  read("v2.portfolios.list", {
    payload: {
      ownerAccountId: Schema.optionalKey(WalletId),
      strategyId: Schema.optionalKey(StrategyId),
      /** Leaves out portfolios without a schedule. */
      status: Schema.optionalKey(ScheduleStatus),
      ...pageInput
    },
    success: Schema.Struct({ portfolios: Schema.Array(PortfolioItem), nextCursor }),
    error: Errors.CursorInvalid
  }),
  read("v2.portfolios.get", { payload: one, success: PortfolioDetail, error: notFound }).annotate(RateTier, "burst"),
  read("v2.portfolios.positions", { payload: one, success: Positions, error: notFound }),
  read("v2.portfolios.performance", { payload: one, success: PortfolioPerformance, error: notFound }),
  read("v2.portfolios.policy", { payload: one, success: PortfolioPolicy, error: notFound }).annotate(
    RateTier,
    "critical"
  ),
  read("v2.portfolios.operations.list", {
    payload: {
      ...one,
      kind: Schema.optionalKey(OperationKind),
      state: Schema.optionalKey(OperationState),
      /** Submitted then or later. */
      since: Schema.optionalKey(utcFromText("what was submitted then or later is listed")),
      ...pageInput
    },
    success: Schema.Struct({ operations: Schema.Array(OperationItem), nextCursor }),
    error: Schema.Union([Errors.CursorInvalid, notFound])
  }),
  read("v2.portfolios.operations.get", {
    payload: { ...one, operationId: OperationId },
    success: OperationDetail,
    error: notFound
  }).annotate(RateTier, "burst"),
  // Reads chains and providers, and stores the plan, so it is no read of this wire.
  Rpc.make("v2.portfolios.previewRebalance", {
    payload: one,
    success: Preview,
    error: Errors.PortfolioNotFound,
    defect
  }).annotate(RateTier, "critical"),
  Rpc.make("v2.portfolios.start", {
    payload: one,
    success: PortfolioDetail,
    error: Schema.Union(refusals),
    defect
  }),
  Rpc.make("v2.portfolios.stop", {
    payload: one,
    success: PortfolioDetail,
    error: Schema.Union(refusals),
    defect
  }),
  Rpc.make("v2.portfolios.rebalance", {
    payload: {
      ...one,
      /** Hash of a preview's plan: refused when a run would do something else by now. */
      planHash: Schema.optionalKey(PlanHash)
    },
    success: Submitted,
    error: Schema.Union([...refusals, Errors.PlanChanged, Errors.RateLimited]),
    defect
  }).annotate(RateTier, "critical")
).middleware(SessionAccess)
