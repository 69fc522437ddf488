/**
 * Calls of a portfolio's account as an integrator encoded them. The trade guard decides on chain which of them the
 * agent may make, so a chain without it is refused. Source: interface "Legacy execution (v1)";
 * docs/decisions/0168-legacy-execution.md.
 */
import { Context, DateTime, Effect, Layer, Option, Schedule } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import type { ChainId } from "#domain/values/Caip.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import { isGuarded } from "#domain/account/Permission.ts"
import type { OrderOutcome } from "#domain/order/OrderTerms.ts"
import { OrderStore } from "#domain/order/OrderStore.ts"
import type { AccountCall, CallsOrder } from "#domain/order/CallsOrder.ts"
import { CallsPreparer } from "#domain/order/CallsPreparer.ts"
import { type CallTrace, CallTracer } from "#domain/order/CallTracer.ts"
import {
  CallsRefused,
  Internal,
  NotFound,
  PermissionDenied,
  PortfolioNotFound,
  ReplayMismatch,
  ValidationFailed
} from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { makeOperationId, type OperationId, type PortfolioId } from "#domain/values/Ids.ts"
import type { Operation } from "#domain/operation/Operation.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { codeOfRefusal } from "#domain/trading/codeOfRefusal.ts"

export interface ExecutionRequest {
  readonly portfolioId: PortfolioId
  readonly chainId: ChainId
  readonly calls: readonly [AccountCall, ...ReadonlyArray<AccountCall>]
  /** Ties a repeat to the first call, within the portfolio; null: nothing does. */
  readonly nonce: string | null
}

export interface SubmittedExecution {
  /** Null when nothing was submitted. */
  readonly executionId: OperationId | null
  readonly prepared: PreparedTransaction
}

export interface ExecutionStatus {
  readonly operation: Operation
  readonly outcome: OrderOutcome | null
}

/**
 * An operation of the account that lands while calls are simulated changes its nonce, so that the simulation fails for
 * no fault of theirs: they are simulated anew, for some five seconds at most.
 */
const simulatedAnew = Schedule.exponential("100 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 5 }))

type SubmitError = PortfolioNotFound | PermissionDenied | ValidationFailed | ReplayMismatch | CallsRefused | Internal

/**
 * Calls of a portfolio's account, as an integrator writes them.
 *
 * **When to use**
 *
 * Use in the legacy routes that execute calls. Orders of owners are `Orders`.
 */
export class DirectExecutions extends Context.Service<
  DirectExecutions,
  {
    /** Accepts the operation once it passes simulation. */
    readonly submit: (request: ExecutionRequest) => Effect.Effect<SubmittedExecution, SubmitError, Caller>
    /** Simulates the calls with the node's trace; nothing is stored. */
    readonly simulate: (
      request: ExecutionRequest
    ) => Effect.Effect<SubmittedExecution & { readonly trace: CallTrace }, SubmitError, Caller>
    readonly status: (
      portfolioId: PortfolioId,
      executionId: OperationId
    ) => Effect.Effect<ExecutionStatus, NotFound, Caller>
  }
>()("ballast/domain/order/DirectExecutions") {
  static readonly layer = Layer.effect(
    DirectExecutions,
    Effect.gen(function* () {
      const store = yield* OrderStore
      const operations = yield* OperationStore
      const preparer = yield* CallsPreparer
      const tracer = yield* CallTracer
      const launcher = yield* OperationLauncher
      const digest = yield* Digest.Digest
      const random = yield* SecureRandom.SecureRandom

      const requireSource = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
        const { tenantId } = yield* Caller
        const source = yield* store.source(portfolioId)
        if (Option.isNone(source) || source.value.tenantId !== tenantId) {
          return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` })
        }
        return source.value
      })

      const unavailable = ({ message }: { readonly message: string }) => new Internal({ message: `${message}; retry` })

      /** The order, and the operation that the chain would take. */
      const prepare = Effect.fnUntraced(function* ({ calls, chainId, portfolioId }: ExecutionRequest) {
        const source = yield* requireSource(portfolioId)
        const chain = authorizedChains(source.grants).find((one) => one.chainId === chainId)
        if (chain === undefined) {
          return yield* new ValidationFailed({
            message: "Name a chain on which the portfolio has an account",
            details: [`chainId: the portfolio has no account on chain ${chainId}`]
          })
        }
        if (!isGuarded(chain)) {
          return yield* new PermissionDenied({
            message: `The agent's permission on chain ${chainId} is from before the trade guard; let the owner sign anew`
          })
        }
        const order: CallsOrder = { _tag: "Calls", chainId: chain.chainId, accountId: chain.accountId, calls }
        const prepared = yield* preparer.prepare(source, order).pipe(
          Effect.retry({ while: ({ _tag }) => _tag === "ChainUnavailable", schedule: simulatedAnew }),
          Effect.catchTags({
            ChainUnavailable: (error) => Effect.fail(unavailable(error)),
            SimulationFailed: (refusal) => {
              const code = refusal.marketFault === undefined ? "" : `${codeOfRefusal(refusal)}: `
              const details = [`calls: ${code}${refusal.reason}`]
              return Effect.fail(new CallsRefused({ message: "The chain would refuse these calls", details }))
            }
          })
        )
        return { source, order, prepared }
      })

      const simulate = Effect.fn("DirectExecutions.simulate")(function* (request: ExecutionRequest) {
        const { prepared } = yield* prepare(request)
        const trace = yield* Effect.mapError(tracer.trace(prepared), unavailable)
        return { executionId: null, prepared, trace }
      })

      const submit = Effect.fn("DirectExecutions.submit")(function* (request: ExecutionRequest) {
        const { nonce: requestId, portfolioId } = request
        const { order, prepared, source } = yield* prepare(request)
        const body = new TextEncoder().encode(JSON.stringify([portfolioId, request.chainId, request.calls]))
        const operationId = yield* Effect.provideService(makeOperationId, SecureRandom.SecureRandom, random)
        const submission = yield* store.submit({
          operationId,
          submittedAt: yield* DateTime.now,
          correlationId: operationId,
          tenantId: source.tenantId,
          portfolioId,
          requestId: requestId === null ? null : `execute:${requestId}`,
          requestHash: yield* digest.digest(Digest.sha256, body),
          order
        })
        if (submission._tag === "Mismatch") {
          return yield* new ReplayMismatch({ message: "This nonce was used with other calls; draw a new one" })
        }
        // A launch that fails leaves an accepted operation, which the scheduler launches.
        if (submission._tag === "Accepted") {
          yield* Effect.catchDefect(launcher.launch({ operationId, kind: "execute" }), (defect) =>
            Effect.logWarning("The launch of an execution is left to the scheduler", defect)
          )
        }
        return { executionId: submission.accepted.operationId, prepared }
      })

      const status = Effect.fn("DirectExecutions.status")(function* (
        portfolioId: PortfolioId,
        executionId: OperationId
      ) {
        const { tenantId } = yield* Caller
        const operation = yield* operations.find(tenantId, portfolioId, executionId)
        if (Option.isNone(operation) || operation.value.kind !== "execute") {
          return yield* new NotFound({ message: `Portfolio ${portfolioId} has no execution ${executionId}` })
        }
        return { operation: operation.value, outcome: yield* store.outcome(executionId) }
      })

      return DirectExecutions.of({ submit, simulate, status })
    })
  )
}
