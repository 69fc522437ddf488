/**
 * Contract: operations as executions, for keys and for wallet sessions. Source: interface "Events"; shapes 2.26 and J
 * to M; docs/decisions/0162.
 */
import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import * as Errors from "#domain/errors/Errors.ts"
import { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { OperationKind, OperationState } from "#domain/operation/Operation.ts"
import { integer } from "#domain/mandate/RebalancePolicy.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { ExecutionEvent } from "#http/execution/ExecutionEvent.ts"
import { Execution, ExecutionDetail, ExecutionEnd } from "#http/execution/ExecutionReads.ts"
import { HiddenDefect, IsRead, publicRead } from "#rpc/publicProcedure.ts"
import { ExecutionAccess } from "#rpc/session/ExecutionAccess.ts"
import { pageInput } from "#rpc/pageInput.ts"
import { FrameOf } from "#rpc/execution/streamedProcedure.ts"

/** Changes nothing, as those that need no key. */
const read = publicRead

const one = { operationId: OperationId }

export const ExecutionProcedures = RpcGroup.make(
  read("v2.executions.get", { payload: one, success: Execution, error: Errors.NotFound }).annotate(RateTier, "burst"),
  read("v2.executions.detail", {
    payload: {
      ...one,
      /** Number of the last event that the client has; 0 when left out. */
      afterSequence: Schema.optionalKey(integer(0, 999_999_999, "Number of the last event that the client has")),
      /** Most entries of the timeline; 200 when left out. */
      limit: pageInput.limit
    },
    success: ExecutionDetail,
    error: Errors.NotFound
  }).annotate(RateTier, "burst"),
  read("v2.executions.result", { payload: one, success: ExecutionEnd, error: Errors.NotFound }).annotate(
    RateTier,
    "burst"
  ),
  read("v2.executions.list", {
    payload: {
      portfolioId: Schema.optionalKey(PortfolioId),
      kind: Schema.optionalKey(OperationKind),
      state: Schema.optionalKey(OperationState),
      ...pageInput
    },
    success: Schema.Struct({ executions: Schema.Array(Execution), nextCursor: Schema.NullOr(Schema.String) }),
    error: Errors.CursorInvalid
  }),
  // A header `Last-Event-ID` counts before the input, since a browser sends it by itself when it comes back.
  Rpc.make("v2.executions.stream", {
    payload: {
      ...one,
      /** The last event that the client has; `0-0` for all, left out: from now on. */
      lastEventId: Schema.optionalKey(
        Schema.String.check(
          Schema.isPattern(/^[0-9]{1,15}-[0-9]{1,9}$/u, { expected: "the id of an event of the stream, or 0-0" })
        ).annotate({ examples: ["1772443800000-3"] })
      )
    },
    success: ExecutionEvent,
    // What its middleware refuses may also end a stream that has begun.
    error: Schema.Union([
      Errors.NotFound,
      Errors.CursorInvalid,
      Errors.RateLimited,
      Errors.KeyInvalid,
      Errors.KeyExpired,
      Errors.SessionInvalid,
      Errors.PermissionDenied,
      Errors.TenantDisabled
    ]),
    defect: HiddenDefect,
    stream: true
  })
    .annotate(IsRead, true)
    .annotate(RateTier, "burst")
    .annotate(FrameOf, (value) => {
      const { cursor, kind } = value as ExecutionEvent
      return { id: cursor, event: kind }
    })
).middleware(ExecutionAccess)
