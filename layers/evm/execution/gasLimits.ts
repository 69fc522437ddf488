/**
 * Gas that a user operation is allowed, and the transaction around it. Limits are generous on purpose: what is not used
 * comes back, whereas an operation that runs out is paid for and moves nothing. The numbers are one and a half times
 * and more of what Kernel 0.3.1 used in measurements with 1 to 30 listed tokens and 1 to 5 swaps.
 */
import type { AccountType, AgentPolicy } from "#domain/account/Authorization.ts"
import type { LiquidationPayout, SwapBatch } from "#domain/trading/SwapBatches.ts"
import { evmExecution } from "#layers/evm/address.ts"
import { pathGas } from "#layers/evm/venue/uniswapV2Calls.ts"

export interface GasLimits {
  readonly verificationGasLimit: bigint
  readonly callGasLimit: bigint
  readonly preVerificationGas: bigint
}

/** What a transaction may use at most on chains with EIP-7825. */
export const transactionGasCap = 16_777_216n

/**
 * A transaction of several operations uses no more than this part of a block, so that it finds room in the next
 * one.
 */
const blockShare = 4n

/** What a transaction of several user operations may use at most, where the deployment allows it that much. */
export const bundleGasCap = (blockGasLimit: bigint, allowed: bigint = transactionGasCap): bigint =>
  [transactionGasCap, allowed].reduce((least, cap) => (cap < least ? cap : least), blockGasLimit / blockShare)

/** The EntryPoint's own work, calldata and the fixed cost of a transaction. */
const transactionOverhead = 500_000n

export const deployGas = 600_000n
const enableGas = 2_400_000n
/** What a contract wallet may use to rule on its signature: several keys, or one on a curve without a precompile. */
const contractOwnerGas = 1_000_000n
/** A word that the policy stores for a listed token, once in each rule set that lists it. */
const storedWordGas = 35_000n
const validateGas = 300_000n
/** Checking an approval and a swap, and reading a listed token of their rules. */
const validateSwapGas = 60_000n
const readWordGas = 3_000n
/** What enabling the bridge's rule set costs, and a lock; bridges do more than the sandbox's. */
const enableBridgeGas = 400_000n
const lockGas = 500_000n
const executeGas = 150_000n
/** What enabling the rule set of routed swaps costs, and such a swap: a route may split and pass many pools. */
const enableRoutesGas = 300_000n
const routedSwapGas = 900_000n

/** What enabling a permission whose policy is the guard costs, and what the guard adds to a swap or a transfer. */
const enableGuardGas = 1_000_000n
const guardGas = 400_000n
/** A call that an integrator encoded, which may be a trade through the guard. */
const askedGas = 1_300_000n
/** What it costs to take a permission of one policy and one signer off the account. */
const removalGas = 250_000n

/** Reading the permission's rule for one call more, by which a liquidation is settled. */
const validateSettlementGas = 60_000n
/** Use of the nonce, the transfer, a contract owner's own check of its keys, and the guard's of what is paid. */
const settleGas = 700_000n
/** Spelling an asset's identifier out and hashing it. */
const assetGas = 40_000n

const sum = (values: ReadonlyArray<bigint>) => values.reduce((total, value) => total + value, 0n)

const swapsGas = (swaps: SwapBatch["swaps"]) =>
  sum(
    swaps.map((swap) => {
      const { call, direct } = evmExecution(swap)
      return pathGas(swap) + ((call ?? direct) === undefined ? 0n : routedSwapGas)
    })
  )

export const gasLimits = (
  policy: AgentPolicy,
  { calls: asked = [], swaps, transfers = [] }: Pick<SwapBatch, "calls" | "swaps" | "transfers">,
  {
    accountType,
    deployed,
    enables,
    removals = 0
  }: {
    readonly accountType: AccountType
    readonly deployed: boolean
    readonly enables: boolean
    /** Earlier permissions that are taken off the account. */
    readonly removals?: number
  }
): GasLimits => {
  const owner = accountType === "ERC1271" ? contractOwnerGas : 0n
  const deploy = deployed ? 0n : deployGas
  if (policy.guard !== undefined) {
    const calls = BigInt(swaps.length + transfers.length)
    return {
      verificationGasLimit:
        validateGas +
        validateSwapGas * (calls + BigInt(asked.length)) +
        (enables ? enableGuardGas + owner : 0n) +
        deploy,
      callGasLimit:
        executeGas +
        swapsGas(swaps) +
        guardGas * calls +
        askedGas * BigInt(asked.length) +
        lockGas * BigInt(transfers.length) +
        removalGas * BigInt(removals),
      preVerificationGas: 100_000n
    }
  }
  const listed = BigInt(policy.tokens.length)
  const connectors = BigInt(policy.connectorTokens.length)
  const destinations = BigInt(policy.bridge?.destinations.length ?? 0)
  const bridgeRules = policy.bridge === undefined ? 0n : enableBridgeGas + storedWordGas * 2n * destinations
  const routeRules = policy.routedSwap === undefined ? 0n : enableRoutesGas + storedWordGas * (listed + connectors)
  const enable = enables
    ? enableGas + owner + bridgeRules + routeRules + storedWordGas * (2n * listed + connectors)
    : 0n
  const validateTransfers = BigInt(transfers.length) * (validateSwapGas + readWordGas * (6n + 2n * destinations))
  const validateSwaps =
    validateTransfers + BigInt(swaps.length) * (validateSwapGas + readWordGas * (listed + connectors))
  return {
    verificationGasLimit: validateGas + validateSwaps + enable + deploy,
    callGasLimit: executeGas + lockGas * BigInt(transfers.length) + swapsGas(swaps),
    preVerificationGas: 100_000n
  }
}

/** Adds the gas of a liquidation's last call, where the batch has one. */
export const withSettlementGas = (gas: GasLimits, settlement: LiquidationPayout | undefined): GasLimits =>
  settlement === undefined
    ? gas
    : {
        ...gas,
        verificationGasLimit: gas.verificationGasLimit + validateSettlementGas,
        callGasLimit: gas.callGasLimit + settleGas + assetGas * BigInt(settlement.message.assets.length)
      }

export const transactionGas = ({ callGasLimit, preVerificationGas, verificationGasLimit }: GasLimits): bigint =>
  verificationGasLimit + callGasLimit + preVerificationGas + transactionOverhead
