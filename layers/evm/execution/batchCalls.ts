/** The calls of a batch that trade, and the attested prices that they need. */
import { Effect } from "effect"
import { erc20, type EvmAddress } from "#domain/values/Caip.ts"
import type { SignedPrice } from "#domain/attestation/PriceAttestor.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { SimulationFailed, type SwapBatch } from "#domain/trading/SwapBatches.ts"
import { addressOf, evmPolicy } from "#layers/evm/address.ts"
import type { AskAttested } from "#layers/evm/attestation/attestedPrices.ts"
import { type GuardTerms, guardedLiquidation, guardedSwaps, guardedTransfer } from "#layers/evm/execution/guardCalls.ts"
import { swapCalls } from "#layers/evm/execution/swapCalls.ts"
import { transferCalls } from "#layers/evm/execution/transferCalls.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"

/** How long after the latest block a swap may still be included. 20 minutes. */
export const swapLifetimeSeconds = 1_200n

/** Swaps and transfers, through the guard where the account's permission has one; sales for a withdrawal end them. */
export const tradesOf = (
  { settlement, swaps, transfers = [] }: SwapBatch,
  chain: ChainAuthorization,
  { attested, deadline, routeTarget }: Pick<GuardTerms, "attested" | "deadline" | "routeTarget">
): ReadonlyArray<Call> => {
  const { guard, router } = evmPolicy(chain)
  if (guard !== undefined) {
    const terms = { guard, router, routeTarget, deadline, attested }
    if (settlement !== undefined) return guardedLiquidation(swaps, settlement, terms)
    return [...guardedSwaps(swaps, terms), ...transfers.flatMap((transfer) => guardedTransfer(transfer, terms))]
  }
  const account = addressOf(chain.accountId)
  return [
    ...swaps.flatMap((swap) => swapCalls(swap, { account, router, deadline })),
    ...transfers.flatMap((transfer) => transferCalls(transfer, account, deadline - swapLifetimeSeconds))
  ]
}

const noPrices: ReadonlyMap<EvmAddress, SignedPrice> = new Map()

/** The attested prices that the guard requires for what the batch trades; a refusal names the assets. */
export const attestedFor = Effect.fnUntraced(function* (
  { chainId, swaps, transfers = [] }: SwapBatch,
  chain: ChainAuthorization,
  askAttested: AskAttested
) {
  const { guard } = evmPolicy(chain)
  if (guard === undefined) return noPrices
  const traded = [...swaps.flatMap(({ buy, sell }) => [sell, buy]), ...transfers.map(({ sell }) => sell)]
  const tokens = [...new Set(traded.map(addressOf))]
  const { refused, signed } = yield* askAttested({ chainId, guard: guard.contract }, tokens)
  if (refused.length === 0) return signed
  const unattested = refused.map(({ code, reason, token }) => ({
    assetId: erc20(chainId, token),
    reason: `No attested price (${code}): ${reason}`
  }))
  const [first] = unattested
  return yield* new SimulationFailed({ chainId, reason: `${first!.assetId}: ${first!.reason}`, unattested })
})
