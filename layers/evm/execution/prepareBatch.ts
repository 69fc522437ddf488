/** Builds, signs and simulates the user operation of a batch of swaps. */
import { Effect } from "effect"
import type { Hex } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { SimulationFailed, type SwapBatch } from "#domain/trading/SwapBatches.ts"
import type { Signer } from "#domain/relay/Signer.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { addressOf, fromViem, toViem, evmPolicy } from "#layers/evm/address.ts"
import type { AskAttested } from "#layers/evm/attestation/attestedPrices.ts"
import { entryPoint } from "#layers/evm/contracts.ts"
import { withDataCosts } from "#layers/evm/rpc/dataCosts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import type { AgentOperation } from "#layers/evm/execution/agentOperation.ts"
import { attestedFor, swapLifetimeSeconds, tradesOf } from "#layers/evm/execution/batchCalls.ts"
import type { BlockReading } from "#layers/evm/execution/BlockReader.ts"
import { type AccountState, type RelayerAddresses, readAccountState } from "#layers/evm/execution/chainState.ts"
import { checkBatch } from "#layers/evm/execution/checkBatch.ts"
import {
  bundleGasCap,
  gasLimits,
  transactionGas,
  transactionGasCap,
  withSettlementGas
} from "#layers/evm/execution/gasLimits.ts"
import { withTag } from "#layers/evm/execution/operationTag.ts"
import { refusedByAccount, requireAuthorization } from "#layers/evm/execution/requireAuthorization.ts"
import { removalCalls } from "#layers/evm/execution/removalCalls.ts"
import type { Simulation } from "#layers/evm/execution/batchedSimulations.ts"
import { signOperation } from "#layers/evm/execution/signOperation.ts"
import { type OperationToSimulate, simulateOperation } from "#layers/evm/execution/simulateOperation.ts"
import { executeBatch } from "#layers/evm/execution/swapCalls.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"

/** The service's accounts: the agent that signs operations, the relayers that submit them. */
export interface Operators {
  readonly agent: Signer
  readonly relayers: RelayerAddresses
  /** The block and the relayers' nonces, shared by all operations that are prepared at that moment. */
  readonly readBlock: (chainId: ChainId) => Effect.Effect<BlockReading, ChainUnavailable>
  readonly simulate: (simulation: Simulation) => Effect.Effect<ReadonlyArray<CallResult>, ChainUnavailable>
}

/** What the account may use for the batch; fails where that is more than a transaction may. */
const gasOf = Effect.fnUntraced(function* (
  batch: SwapBatch,
  chain: ChainAuthorization,
  { account, removals }: { readonly account: AccountState; readonly removals: number }
) {
  const { authorization, chainId, settlement } = batch
  const gas = withSettlementGas(
    gasLimits(evmPolicy(chain), batch, {
      accountType: authorization.accountType,
      deployed: account.deployed,
      enables: account.mode === "enable",
      removals
    }),
    settlement
  )
  const gasLimit = transactionGas(gas)
  if (gasLimit > transactionGasCap) {
    return yield* new SimulationFailed({
      chainId,
      reason: `the batch needs up to ${gasLimit} gas, a transaction may use ${transactionGasCap}; use fewer swaps or tokens`
    })
  }
  return gas
})

/**
 * What the batch was made from is what the account still is: the nonce that is signed is the one that was read with the
 * balances. An operation that landed in between, of whichever process, changed what the batch is about.
 */
const requireUnmoved = ({ chainId, madeFrom }: SwapBatch, operations: bigint, blockNumber: bigint) =>
  madeFrom?.operations === undefined || madeFrom.operations === operations
    ? Effect.void
    : new ChainUnavailable({
        chainId,
        reason: `the account has acted between block ${madeFrom.blockNumber}, at which its balances were read, and block ${blockNumber}`
      })

const askedCalls = ({ calls = [] }: SwapBatch): ReadonlyArray<Call> =>
  calls.map(({ data, to }) => ({ target: toViem(to), data: data as Hex }))

/** The operation as the simulation sees it. */
const toSimulate = (
  { chainId, settlement, swaps, transfers, ...batch }: SwapBatch,
  { callData, chain, gas }: AgentOperation,
  { handleOps, notBefore, relayer }: Pick<OperationToSimulate, "handleOps" | "relayer" | "notBefore">
): OperationToSimulate => ({
  chainId,
  notBefore,
  account: addressOf(chain.accountId),
  relayer,
  handleOps,
  execute: callData,
  swaps,
  transfers,
  settlement,
  hasCalls: (batch.calls ?? []).length > 0,
  transactionGas: transactionGas(gas),
  callGasLimit: gas.callGasLimit
})

/** What leaves the account, for its owner or another chain, is not to be spoiled by the operations of others. */
const isShareable = ({ calls = [], settlement, transfers = [] }: SwapBatch): boolean =>
  settlement === undefined && transfers.length + calls.length === 0

export const prepareBatch = Effect.fnUntraced(function* (
  batch: SwapBatch,
  { agent, readBlock, relayers: [relayer], simulate }: Operators,
  askAttested: AskAttested
) {
  const { authorization, chainId } = batch
  const { chain: chainOf } = yield* EvmClients
  const { bundleGas: allowed, issuer, routedSwap } = yield* chainOf(chainId)
  const routeTarget = routedSwap?.target
  const venues = { routeTarget, issuer: issuer?.manager }
  const { chain, settles, signature: ownerSignature } = yield* checkBatch(batch, agent.address, venues)
  const [{ blockNumber, operations, state: account }, { block, nonces }, removals, attested] = yield* Effect.all(
    [
      readAccountState(chain, batch.madeFrom?.blockNumber),
      readBlock(chainId),
      removalCalls(chain, batch.replaced),
      attestedFor(batch, chain, askAttested)
    ],
    { concurrency: "unbounded" }
  )
  yield* requireUnmoved(batch, operations, blockNumber)
  const gas = yield* gasOf(batch, chain, { account, removals: removals.length })
  const asked = askedCalls(batch)
  if (asked.length > 0 && !account.deployed) {
    const reason = "the account is not deployed yet; its first rebalance or swap deploys it"
    return yield* new SimulationFailed({ chainId, reason })
  }
  const trades = tradesOf(batch, chain, { deadline: block.timestamp + swapLifetimeSeconds, routeTarget, attested })
  const made = executeBatch([...removals, ...trades, ...asked, ...(settles === undefined ? [] : [settles])])
  const callData = withTag(made, batch.operationId)
  const operation: AgentOperation = { authorization, chain, ownerSignature, ...account, callData, gas }
  const { handleOps, userOpHash } = yield* signOperation(operation, agent, relayer)
  const toTry = toSimulate(batch, operation, { handleOps, relayer, notBefore: blockNumber })
  yield* simulateOperation(toTry, simulate).pipe(
    Effect.tapErrorTag("SimulationFailed", ({ reason }) =>
      refusedByAccount(reason)
        ? requireAuthorization({
            authorization,
            chain,
            mode: account.mode,
            relayer,
            handleOps,
            gas: transactionGas(gas)
          })
        : Effect.void
    )
  )
  const prepared: PreparedTransaction = {
    _tag: "Evm",
    chainId,
    accountId: chain.accountId,
    actionHash: userOpHash,
    to: fromViem(entryPoint),
    callData: handleOps,
    ...withDataCosts(block.dataCosts, handleOps, transactionGas(gas)),
    ...(isShareable(batch) ? { bundleGas: bundleGasCap(block.gasLimit, allowed) } : {}),
    maxFeePerGas: block.maxFeePerGas,
    maxPriorityFeePerGas: block.maxPriorityFeePerGas,
    ...nonces,
    // What the nonce counts is in this block or before it; the operation itself comes later.
    fromBlock: blockNumber
  }
  return prepared
})
