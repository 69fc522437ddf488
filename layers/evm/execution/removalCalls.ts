/**
 * The calls by which an account under the guard rids itself of earlier permissions of its agent: an old one bounds
 * where trades go and not their price, so the guard is worth nothing while it can still be used. Source: Kernel 0.3.1.
 */
import { Effect } from "effect"
import { decodeFunctionResult, encodeAbiParameters, encodeFunctionData, type Hex, zeroAddress } from "viem"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { permissionValidation } from "#layers/evm/account/kernelAccount.ts"
import { addressOf, toViem, evmPolicy } from "#layers/evm/address.ts"
import { kernelAbi } from "#layers/evm/contracts.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"

/** A permission of ours has one policy and one signer, and each is uninstalled without further data. */
const endings = encodeAbiParameters([{ type: "bytes[]" }], [["0x", "0x"]])

const isThere = (config: CallResult | undefined) =>
  config?.success === true &&
  config.data !== "0x" &&
  decodeFunctionResult({ abi: kernelAbi, functionName: "permissionConfig", data: config.data }).signer !== zeroAddress

/** Builds calls for those of the ids that the account still has; one request, and none where there are no ids. */
export const removalCalls = Effect.fnUntraced(function* (
  chain: ChainAuthorization,
  replaced: ReadonlyArray<string> = []
) {
  const { accountId, chainId } = chain
  if (evmPolicy(chain).guard === undefined || replaced.length === 0) return []
  const target = toViem(addressOf(accountId))
  const configs = yield* multicall(
    chainId,
    replaced.map((id) => ({
      target,
      data: encodeFunctionData({ abi: kernelAbi, functionName: "permissionConfig", args: [id as Hex] })
    }))
  )
  const left = yield* Effect.try({
    try: () => replaced.filter((_, index) => isThere(configs[index])),
    catch: () => new ChainUnavailable({ chainId, reason: `${accountId} does not answer as a Kernel account` })
  })
  return left.map((id): Call => ({
    target,
    data: encodeFunctionData({
      abi: kernelAbi,
      functionName: "uninstallValidation",
      args: [permissionValidation(id as Hex), endings, "0x"]
    })
  }))
})
