/** Builds and simulates the relayer's transaction with the owner's operation, and reads whether it is needed still. */
import { Effect } from "effect"
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, zeroAddress } from "viem"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import type { SignedRevocation } from "#domain/revocation/RevocationTransactions.ts"
import { SimulationFailed } from "#domain/trading/SwapBatches.ts"
import { accountDeployment, permissionValidation } from "#layers/evm/account/kernelAccount.ts"
import { ownerSignature } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, fromViem, toViem } from "#layers/evm/address.ts"
import { kernelAbi } from "#layers/evm/contracts.ts"
import { withDataCosts } from "#layers/evm/rpc/dataCosts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { type RelayerAddresses, readBlockState, readRelayerNonces } from "#layers/evm/execution/chainState.ts"
import { deployGas, transactionGas } from "#layers/evm/execution/gasLimits.ts"
import { refusedSimulation, revertReason } from "#layers/evm/revert/revertReason.ts"
import { readDepth } from "#layers/evm/execution/confirmedReceipt.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"
import { readEach, concluded } from "#layers/evm/rpc/quorum.ts"
import { handleCall, operationGas, transactionOf } from "#layers/evm/account/ownersOperation.ts"
import { revokingGas, revokingOperation } from "#layers/evm/revocation/revokingOperation.ts"

const stateCalls = ({ accountId, permissionId }: ChainRevocation): readonly [Call, Call] => {
  const target = toViem(addressOf(accountId))
  const args = [permissionValidation(permissionId as Hex)] as const
  return [
    { target, data: encodeFunctionData({ abi: kernelAbi, functionName: "validNonceFrom" }) },
    { target, data: encodeFunctionData({ abi: kernelAbi, functionName: "validationConfig", args }) }
  ]
}

/** Whether the account shows that neither the permission nor an earlier unused signature is good any more. */
const isVoid = ({ validFrom }: ChainRevocation, [from, config]: ReadonlyArray<CallResult>): boolean => {
  if (from?.success !== true || from.data === "0x" || config?.success !== true) return false
  const least = decodeFunctionResult({ abi: kernelAbi, functionName: "validNonceFrom", data: from.data })
  const { hook, nonce } = decodeFunctionResult({ abi: kernelAbi, functionName: "validationConfig", data: config.data })
  return least >= validFrom && (hook === zeroAddress || nonce < least)
}

/** Asks every endpoint that answers, in a block that counts. */
export const hasEnded = Effect.fnUntraced(function* (chain: ChainRevocation) {
  const { chainId } = chain
  const observe = Effect.gen(function* () {
    const { confirmed } = yield* readDepth(chainId)
    return isVoid(chain, yield* multicall(chainId, stateCalls(chain), { blockNumber: confirmed }))
  })
  const seen = yield* concluded(chainId, yield* readEach(chainId, () => observe))
  return seen.every((hasEndedThere) => hasEndedThere)
})

/** Any account may submit, so a multicall shows what the relayer's transaction would do, and whether that is enough. */
const simulate = Effect.fnUntraced(function* (
  chain: ChainRevocation,
  calls: ReadonlyArray<Call>,
  frame: { readonly from: Address; readonly gas: bigint }
) {
  const { chainId } = chain
  const results = yield* multicall(chainId, [...calls, ...stateCalls(chain)], frame)
  const failed = results.slice(0, calls.length).find(({ success }) => !success)
  if (failed !== undefined) return yield* refusedSimulation(chainId, revertReason(failed.data))
  if (!isVoid(chain, results.slice(calls.length))) {
    return yield* new SimulationFailed({
      chainId,
      reason: "the account has authorized the agent at a later nonce since; let the owner sign a new revocation"
    })
  }
})

export const prepareRevocation = Effect.fnUntraced(function* (
  { revocation, signature }: SignedRevocation,
  chain: ChainRevocation,
  relayers: RelayerAddresses
) {
  const { accountId, chainId, digest } = chain
  const [relayer] = relayers
  const { accountType, chains } = revocation
  const canonical = ownerSignature(accountType, signature)
  if (canonical === undefined) {
    return yield* new SimulationFailed({ chainId, reason: "what is stored is no signature for this account" })
  }
  const { request } = yield* EvmClients
  const code = yield* request(chainId, "eth_getCode", (client) =>
    client.getCode({ address: toViem(addressOf(accountId)) })
  )
  const isDeployed = code !== undefined && code !== "0x"
  const { factory, factoryData } = accountDeployment(revocation)
  const signed = {
    signature: canonical,
    digests: chains.map((one) => one.digest as Hex),
    digest: digest as Hex
  }
  const handle = handleCall(revokingOperation(chain, accountType), signed, relayer)
  const calls = isDeployed ? [handle] : [{ target: factory, data: factoryData }, handle]
  const gasLimit = transactionGas(operationGas(accountType, revokingGas)) + (isDeployed ? 0n : deployGas)
  yield* simulate(chain, calls, { from: relayer, gas: gasLimit + 1_000_000n })
  const [block, nonces] = yield* Effect.all([readBlockState(chainId), readRelayerNonces(chainId, relayers)], {
    concurrency: "unbounded"
  })
  const { data, target } = transactionOf(calls)
  const prepared: PreparedTransaction = {
    _tag: "Evm",
    chainId,
    accountId,
    actionHash: digest,
    to: fromViem(target),
    callData: data.toLowerCase(),
    ...withDataCosts(block.dataCosts, data, gasLimit),
    maxFeePerGas: block.maxFeePerGas,
    maxPriorityFeePerGas: block.maxPriorityFeePerGas,
    ...nonces,
    fromBlock: block.number
  }
  return prepared
})
