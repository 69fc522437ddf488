/** Makes an operation of an integrator's calls that passes simulation. Nothing is sent; may be repeated. */
import { Context, Effect, Layer, Option } from "effect"
import { grantOn, replacedPermissions } from "#domain/account/Grant.ts"
import type { OrderSource } from "#domain/order/OrderStore.ts"
import type { CallsOrder } from "#domain/order/CallsOrder.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { costingWithin, isParts, type PreparedTransaction } from "#domain/relay/Transaction.ts"
import { SwapBatches, SimulationFailed } from "#domain/trading/SwapBatches.ts"

/**
 * Makes an operation of an integrator's calls.
 *
 * **When to use**
 *
 * Use to accept direct executions and in their run. Swaps of owners are prepared by `SwapPreparer`.
 *
 * **Details**
 *
 * `SimulationFailed` is the chain's own refusal. `ChainUnavailable` may be tried again.
 */
export class CallsPreparer extends Context.Service<
  CallsPreparer,
  {
    /**
     * Prepares the calls. Without an operation they are only for a preview: nothing on chain can be matched to them.
     */
    readonly prepare: (
      source: OrderSource,
      order: CallsOrder,
      operationId?: OperationId
    ) => Effect.Effect<PreparedTransaction, ChainUnavailable | SimulationFailed>
  }
>()("ballast/domain/order/CallsPreparer") {
  static readonly layer = Layer.effect(
    CallsPreparer,
    Effect.gen(function* () {
      const execution = yield* SwapBatches
      const gas = yield* GasBudget

      const prepare = Effect.fn("CallsPreparer.prepare")(function* (
        source: OrderSource,
        order: CallsOrder,
        operationId?: OperationId
      ) {
        const { grants, isRevoked, portfolioId, tenantId } = source
        const { calls, chainId } = order
        const refuse = (reason: string) => new SimulationFailed({ chainId, reason })
        const grant = grantOn(grants, chainId)
        if (isRevoked || grant === undefined) return yield* refuse("the agent has no permission on this chain")
        const spent = yield* gas.refusal({ tenantId, portfolioId })
        if (Option.isSome(spent)) return yield* refuse(spent.value)
        const replaced = replacedPermissions(grants, chainId)
        const named = operationId === undefined ? {} : { operationId }
        const prepared = yield* execution
          .prepare({ chainId, ...grant, swaps: [], calls, replaced, ...named })
          .pipe(Effect.catchTag("AuthorizationRequired", ({ message }) => refuse(message)))
        if (isParts(prepared)) return yield* refuse("calls are made on EVM chains alone")
        // Gas may be cheaper in a moment, so this is waited for as the chain's own ceiling is.
        const waste = yield* gas.waste(prepared, null)
        if (Option.isSome(waste)) return yield* new ChainUnavailable({ chainId, reason: waste.value })
        return costingWithin(prepared, yield* gas.ceilings(prepared, null))
      })

      return CallsPreparer.of({ prepare })
    })
  )
}
