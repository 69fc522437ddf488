/**
 * A swap of dollars into ether that an owner asked for, by the issuer when it says what that promised; accepted and not
 * launched, as the procedure leaves it.
 */
import { DateTime, Effect } from "effect"
import { OrderStore } from "#domain/order/OrderStore.ts"
import type { AccountId } from "#domain/values/Caip.ts"
import { makeOperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

interface Portfolio {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
}

export const acceptSwap = Effect.fnUntraced(function* (
  { portfolioId, tenantId }: Portfolio,
  accountId: AccountId,
  { amountRaw, expectedOfIssuer }: { readonly amountRaw: bigint; readonly expectedOfIssuer?: bigint | undefined }
) {
  const operationId = yield* makeOperationId
  yield* (yield* OrderStore).submit({
    operationId,
    tenantId,
    portfolioId,
    submittedAt: yield* DateTime.now,
    correlationId: "0".repeat(32),
    requestId: null,
    requestHash: new Uint8Array(32),
    order: {
      _tag: "Swap",
      chainId: baseUsdc.chainId,
      accountId,
      sell: baseUsdc.assetId,
      buy: baseWeth.assetId,
      amountRaw,
      slippageBps: null,
      ...(expectedOfIssuer === undefined ? {} : { issuer: { expectedRaw: expectedOfIssuer } })
    }
  })
  return operationId
})
