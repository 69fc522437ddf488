/** Builds and simulates the relayer's transaction that carries out what the owner signed. */
import { Effect } from "effect"
import type { Address, Hex } from "viem"
import { nativeOf } from "#domain/account/WithdrawalMessage.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import { SimulationFailed } from "#domain/trading/SwapBatches.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import { accountDeployment } from "#layers/evm/account/kernelAccount.ts"
import { ownerSignature } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, fromViem, toViem } from "#layers/evm/address.ts"
import { withDataCosts } from "#layers/evm/rpc/dataCosts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { type RelayerAddresses, readBlockState, readRelayerNonces } from "#layers/evm/execution/chainState.ts"
import { transactionGasCap } from "#layers/evm/execution/gasLimits.ts"
import { refusedSimulation, revertReason } from "#layers/evm/revert/revertReason.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"
import { transactionOf } from "#layers/evm/account/ownersOperation.ts"
import { withdrawalDigest, withdrawCall } from "#layers/evm/account/executorCalls.ts"
import { coinCall, nativeDigest, nativeOperation, payCall } from "#layers/evm/withdrawal/nativeWithdrawal.ts"

const callsOf = Effect.fnUntraced(function* (withdrawal: AuthorizedWithdrawal, signature: Hex) {
  const { request } = yield* EvmClients
  const { accountId, grant } = withdrawal
  const code = yield* request(chainIdOf(accountId), "eth_getCode", (client) =>
    client.getCode({ address: toViem(addressOf(accountId)) })
  )
  const operation = nativeOperation(withdrawal)
  const withdraw =
    operation === undefined ? withdrawCall(withdrawal, signature) : payCall(withdrawal, operation, signature)
  if (code !== undefined && code !== "0x") return [withdraw]
  const { factory, factoryData } = accountDeployment(grant.authorization)
  return [{ target: factory, data: factoryData }, withdraw]
})

/**
 * Any account may submit, so a multicall shows what the relayer's own transaction would do, and why not if it would
 * not. The EntryPoint carries out an operation whose call is reverted too, so what the account holds of the native coin
 * shows whether it was.
 */
const simulate = Effect.fnUntraced(function* (
  { accountId, message }: AuthorizedWithdrawal,
  calls: ReadonlyArray<Call>,
  relayer: Address
) {
  const chainId = chainIdOf(accountId)
  const frame = { from: relayer, gas: transactionGasCap }
  const held = coinCall(toViem(addressOf(accountId)))
  const results = yield* multicall(chainId, [held, ...calls, held], frame)
  const failed = results.find(({ success }) => !success)
  if (failed !== undefined) return yield* refusedSimulation(chainId, revertReason(failed.data))
  const native = nativeOf(message)
  const [before, after] = [uintOf(results[0]), uintOf(results.at(-1))]
  if (native !== undefined && (before ?? 0n) - (after ?? 0n) !== BigInt(native.amountRaw)) {
    const reason = `${message.recipientAccountId} does not take the native coin; name another recipient`
    return yield* new SimulationFailed({ chainId, reason })
  }
})

/**
 * What a withdrawal may use at most: a share for the owner's signature, calldata and the account's deployment, and one
 * for each asset. A token's transfer uses 30,000 to 250,000.
 */
const maxGas = ({ message }: AuthorizedWithdrawal): bigint => {
  const max = 2_500_000n + 500_000n * BigInt(message.assets.length)
  return max < transactionGasCap ? max : transactionGasCap
}

/** A third more than the estimate, as other transactions may change what storage costs; what is not used comes back. */
const gasLimitFor = (estimate: bigint, max: bigint) => {
  const limit = (estimate * 13n) / 10n
  return limit < max ? limit : max
}

export const prepareWithdrawal = Effect.fnUntraced(function* (
  withdrawal: AuthorizedWithdrawal,
  relayers: RelayerAddresses
) {
  const [relayer] = relayers
  const chainId = chainIdOf(withdrawal.accountId)
  const { request } = yield* EvmClients
  const actionHash = nativeDigest(withdrawal) ?? withdrawalDigest(withdrawal)
  const signature = ownerSignature(withdrawal.grant.authorization.accountType, withdrawal.signature)
  if (actionHash === undefined || signature === undefined) {
    return yield* new SimulationFailed({ chainId, reason: "what is stored is no signature for this account" })
  }
  const calls = yield* callsOf(withdrawal, signature)
  yield* simulate(withdrawal, calls, relayer)
  const { data, target: to } = transactionOf(calls)
  const [estimate, block, nonces] = yield* Effect.all(
    [
      request(chainId, "eth_estimateGas", (client) => client.estimateGas({ account: relayer, to, data })),
      readBlockState(chainId),
      readRelayerNonces(chainId, relayers)
    ],
    { concurrency: "unbounded" }
  )
  const max = maxGas(withdrawal)
  if (estimate > max) {
    return yield* new SimulationFailed({
      chainId,
      reason: `it needs ${estimate} gas, and the service pays for ${max} at most; withdraw fewer assets at once`
    })
  }
  const prepared: PreparedTransaction = {
    _tag: "Evm",
    chainId,
    accountId: withdrawal.accountId,
    actionHash,
    to: fromViem(to),
    callData: data.toLowerCase(),
    ...withDataCosts(block.dataCosts, data, gasLimitFor(estimate, max)),
    maxFeePerGas: block.maxFeePerGas,
    maxPriorityFeePerGas: block.maxPriorityFeePerGas,
    ...nonces,
    fromBlock: block.number
  }
  return prepared
})
