/**
 * What is read from the chain before an operation is built: the account, the block, the price of gas and the relayer's
 * nonce.
 */
import { Effect } from "effect"
import { type Address, decodeFunctionResult, type Hex, zeroAddress } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { RelayerSigners } from "#domain/relay/Signer.ts"
import { feesAt, type Fees } from "#domain/relay/replacementFees.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { addressOf, fromViem, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { entryPoint, entryPointAbi, kernelAbi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { nonceKey, type PermissionMode } from "#layers/evm/execution/agentOperation.ts"
import { readPendingNonce } from "#layers/evm/execution/relayerNonce.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { type DataCosts, readDataCosts } from "#layers/evm/rpc/dataCosts.ts"
import { readMarketFees } from "#layers/evm/rpc/marketFees.ts"
import { readAtOneBlock, uintOf } from "#layers/evm/rpc/multicall.ts"

export interface AccountState {
  readonly deployed: boolean
  readonly mode: PermissionMode
  /** The operation's nonce in that mode. */
  readonly nonce: bigint
}

/** An account as a block shows it. */
export interface AccountAtBlock {
  readonly state: AccountState
  readonly blockNumber: bigint
  /** Operations under the permission that it had carried out by then. */
  readonly operations: bigint
}

/** An account without code answers any call with nothing at all. */
const isDeployed = (config: CallResult | undefined) => config?.success === true && config.data !== "0x"

const isEnabled = (config: CallResult) =>
  decodeFunctionResult({ abi: kernelAbi, functionName: "permissionConfig", data: config.data }).signer !== zeroAddress

const permissionConfig = callDataOf(kernelAbi, "permissionConfig")
const getNonce = callDataOf(entryPointAbi, "getNonce")

const sequenceOf = (nonce: bigint): bigint => nonce & ((1n << 64n) - 1n)

/** The account's next nonce in the mode. */
const nonceCall = (account: Address, permissionId: Hex, mode: PermissionMode): Call => ({
  target: entryPoint,
  data: getNonce(account, nonceKey(permissionId, mode))
})

/** The next nonces of an operation under the enabled permission, and of one that enables it. */
export const operationCountCalls = (account: Address, permissionId: Hex): readonly [Call, Call] => [
  nonceCall(account, permissionId, "enabled"),
  nonceCall(account, permissionId, "enable")
]

/**
 * How many operations under the agent's permission an account has carried out, by its nonces in the EntryPoint: those
 * that enable the permission on the way have a key of their own. It rises by one with each, whoever submitted it.
 * Undefined where the EntryPoint does not answer.
 */
export const countIn = (results: ReadonlyArray<CallResult | undefined>): bigint | undefined => {
  const [enabled, enable] = [uintOf(results[0]), uintOf(results[1])]
  return enabled === null || enable === null ? undefined : sequenceOf(enabled) + sequenceOf(enable)
}

/**
 * One request; nothing of it may be kept, as the next operation changes it. Fails where no node has reached the block
 * `notBefore`.
 */
export const readAccountState = Effect.fnUntraced(function* (
  { accountId, chainId, permissionId }: ChainAuthorization,
  notBefore?: bigint
) {
  const account = toViem(addressOf(accountId))
  const { blockNumber, results } = yield* readAtOneBlock(
    chainId,
    [
      { target: account, data: permissionConfig(permissionId as Hex) },
      ...operationCountCalls(account, permissionId as Hex)
    ],
    { notBefore }
  )
  const [config, enabledNonce, enableNonce] = results
  const deployed = isDeployed(config)
  const mode = yield* Effect.try({
    try: (): PermissionMode => (deployed && isEnabled(config!) ? "enabled" : "enable"),
    catch: () => new ChainUnavailable({ chainId, reason: `${account} does not answer as a Kernel account` })
  })
  const nonce = uintOf(mode === "enabled" ? enabledNonce : enableNonce)
  const operations = countIn([enabledNonce, enableNonce])
  if (nonce === null || operations === undefined) {
    return yield* new ChainUnavailable({ chainId, reason: `EntryPoint 0.7 does not answer at ${entryPoint}` })
  }
  const reading: AccountAtBlock = { state: { deployed, mode, nonce }, blockNumber, operations }
  return reading
})

export interface BlockState extends Fees {
  readonly dataCosts: DataCosts
  readonly number: bigint
  readonly timestamp: bigint
  readonly gasLimit: bigint
}

/**
 * The latest block and what a new transaction offers, which is not made while the base fee and the tip are above the
 * chain's ceiling.
 */
export const readBlockState = Effect.fnUntraced(function* (chainId: ChainId) {
  const { chain, request } = yield* EvmClients
  const { gasCeiling } = yield* chain(chainId)
  const [{ gasLimit, number, timestamp }, market, dataCosts] = yield* Effect.all(
    [
      request(chainId, "eth_getBlockByNumber", (client) => client.getBlock({ blockTag: "latest" }), {
        blockOf: (block) => block.number
      }),
      readMarketFees(chainId),
      readDataCosts(chainId)
    ],
    { concurrency: "unbounded" }
  )
  const price = market.baseFeePerGas + market.tip
  if (price > gasCeiling) {
    return yield* new ChainUnavailable({
      chainId,
      reason: `gas costs ${price} wei, above the ceiling of ${gasCeiling}`
    })
  }
  const state: BlockState = { number, timestamp, gasLimit, dataCosts, ...feesAt(market, gasCeiling) }
  return state
})

/** The relayers' accounts, the first of which stands for all of them in simulations. */
export type RelayerAddresses = readonly [Address, ...ReadonlyArray<Address>]

export const relayerAddresses = Effect.map(RelayerSigners, ({ signers: [first, ...others] }): RelayerAddresses => [
  toViem(first.address),
  ...others.map(({ address }) => toViem(address))
])

/** The next nonces of all of them, as a prepared transaction includes them. */
export type RelayerNonces = Pick<PreparedTransaction, "chainNonce" | "laneNonces">

export const readRelayerNonces = Effect.fnUntraced(function* (chainId: ChainId, [first, ...others]: RelayerAddresses) {
  const read = (account: Address) => readPendingNonce(chainId, account)
  const [chainNonce, nonces] = yield* Effect.all([read(first), Effect.forEach(others, read, { concurrency: 4 })], {
    concurrency: "unbounded"
  })
  const reading: RelayerNonces = {
    chainNonce,
    laneNonces: others.map((account, index) => ({ relayer: fromViem(account), nonce: nonces[index]! }))
  }
  return reading
})
