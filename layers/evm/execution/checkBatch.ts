/** Checks without a chain: a batch must be one that the owner authorized and this service can sign. */
import { Effect } from "effect"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { AuthorizationRequired, SimulationFailed, type SwapBatch } from "#domain/trading/SwapBatches.ts"
import { settlementCall } from "#layers/evm/account/executorCalls.ts"
import { ownerSignature as canonicalOwnerSignature } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, evmPolicy } from "#layers/evm/address.ts"
import { guardRouteFault } from "#layers/evm/execution/guardCalls.ts"
import { routeFault } from "#layers/evm/execution/swapCalls.ts"
import { pathFault } from "#layers/evm/venue/uniswapV2Calls.ts"
import { transferFault } from "#layers/evm/execution/transferCalls.ts"

/** Fails with what is wrong; returns the chain's authorization, the owner's signature and the settlement's call. */
export const checkBatch = Effect.fnUntraced(function* (
  { authorization, calls = [], chainId, ownerSignature, settlement, swaps, transfers = [] }: SwapBatch,
  agent: string,
  venues: { readonly routeTarget: EvmAddress | undefined; readonly issuer: EvmAddress | undefined }
) {
  const refuse = (reason: string) => new SimulationFailed({ chainId, reason })
  const chain = authorization.chains.find((candidate) => candidate.chainId === chainId)
  if (chain === undefined)
    return yield* refuse("the owner did not authorize this chain; enroll the portfolio on it first")
  const named: string = addressOf(authorization.agentAccountId)
  if (named !== agent)
    return yield* new AuthorizationRequired({
      chainId,
      permissionId: chain.permissionId,
      cause: "agent_changed",
      reason: `the owner authorized agent ${named}, the service signs as ${agent}`
    })
  const policy = evmPolicy(chain)
  const signature = canonicalOwnerSignature(authorization.accountType, ownerSignature)
  if (signature === undefined) {
    return yield* refuse(
      authorization.accountType === "ERC1271"
        ? "the owner's signature is not hex of a contract wallet's signature"
        : "the owner's signature is not an ECDSA signature of 65 bytes"
    )
  }
  if (calls.length > 0 && policy.guard === undefined)
    return yield* refuse("the agent's permission is from before the trade guard")
  if (swaps.length + transfers.length + calls.length === 0 && settlement === undefined)
    return yield* refuse("a batch needs at least one swap")
  const settles = settlement && settlementCall(settlement, authorization.accountType)
  if (settles === null) return yield* refuse("what is stored as the owner's signature over the withdrawal is none")
  const fault = [
    ...swaps.map(pathFault),
    ...swaps.map((swap) =>
      policy.guard === undefined ? routeFault(swap, policy.routedSwap) : guardRouteFault(swap, policy.guard, venues)
    ),
    ...transfers.map((transfer) => transferFault(transfer, policy.bridge))
  ].find((found) => found !== undefined)
  if (fault !== undefined) return yield* refuse(fault)
  return { chain, signature, settles }
})
