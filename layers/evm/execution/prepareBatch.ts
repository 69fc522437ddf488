/** Builds, signs and simulates the user operation of a batch of swaps. */
import { Effect } from "effect"
import { type Address, hashMessage, type Hex } from "viem"
import { type ChainId, erc20, type EvmAddress } from "#domain/Caip.ts"
import type { SignedPrice } from "#domain/attestation/PriceAttestor.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { AuthorizationRequired, SimulationFailed, type SwapBatch } from "#domain/trading/ChainExecution.ts"
import type { Signer } from "#domain/relay/Signer.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { ownerSignature as canonicalOwnerSignature } from "#layers/evm/account/ownerSignature.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { addressOf, fromViem, toViem, evmPolicy } from "#layers/evm/address.ts"
import type { AskAttested } from "#layers/evm/attestation/attestedPrices.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import {
  type AgentOperation,
  operationHash,
  operationSignature,
  packedOperation,
  unsignedOperation
} from "#layers/evm/execution/agentOperation.ts"
import type { BlockReading } from "#layers/evm/execution/BlockReader.ts"
import { type RelayerAddresses, readAccountState } from "#layers/evm/execution/chainState.ts"
import { type GuardTerms, guardedSwaps, guardedTransfer, guardRouteFault } from "#layers/evm/execution/guardCalls.ts"
import { bundleGasCap, gasLimits, transactionGas, transactionGasCap } from "#layers/evm/execution/gasLimits.ts"
import { withMark } from "#layers/evm/execution/operationMark.ts"
import { refusedByAccount, requireAuthorization } from "#layers/evm/execution/requireAuthorization.ts"
import { removalCalls } from "#layers/evm/execution/removalCalls.ts"
import type { Simulation } from "#layers/evm/execution/gatheredSimulations.ts"
import { type OperationToSimulate, simulateOperation } from "#layers/evm/execution/simulateOperation.ts"
import { executeBatch, pathFault, routeFault, swapCalls } from "#layers/evm/execution/swapCalls.ts"
import { transferCalls, transferFault } from "#layers/evm/execution/transferCalls.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { settlementCall, withSettlementGas } from "#layers/evm/withdrawal/settlementCall.ts"

/** The service's accounts: the agent that signs operations, the relayers that submit them. */
export interface Operators {
  readonly agent: Signer
  readonly relayers: RelayerAddresses
  /** The block and the relayers' nonces, shared by all operations that are prepared at that moment. */
  readonly readBlock: (chainId: ChainId) => Effect.Effect<BlockReading, ChainUnavailable>
  readonly simulate: (simulation: Simulation) => Effect.Effect<ReadonlyArray<CallResult>, ChainUnavailable>
}

/** How long after the latest block a swap may still be included. 20 minutes. */
const swapLifetimeSeconds = 1_200n

/** Checks without a chain: the batch must be one that the owner authorized and this service can sign. */
const checkBatch = Effect.fnUntraced(function* (
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

const handleOps = callDataOf(entryPointAbi, "handleOps")

const handleOpsData = (operation: ReturnType<typeof packedOperation>, beneficiary: Address): Hex =>
  handleOps([operation], beneficiary).toLowerCase() as Hex

const tradesOf = (
  { swaps, transfers = [] }: SwapBatch,
  chain: ChainAuthorization,
  { attested, deadline, routeTarget }: Pick<GuardTerms, "attested" | "deadline" | "routeTarget">
): ReadonlyArray<Call> => {
  const { guard, router } = evmPolicy(chain)
  if (guard !== undefined) {
    const terms = { guard, router, routeTarget, deadline, attested }
    return [...guardedSwaps(swaps, terms), ...transfers.flatMap((transfer) => guardedTransfer(transfer, terms))]
  }
  const account = addressOf(chain.accountId)
  return [
    ...swaps.flatMap((swap) => swapCalls(swap, { account, router, deadline })),
    ...transfers.flatMap((transfer) => transferCalls(transfer, account))
  ]
}

const noPrices: ReadonlyMap<EvmAddress, SignedPrice> = new Map()

/** The attested prices that the guard requires for what the batch trades; a refusal names the assets. */
const attestedFor = Effect.fnUntraced(function* (
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

export const prepareBatch = Effect.fnUntraced(function* (
  batch: SwapBatch,
  { agent, readBlock, relayers, simulate }: Operators,
  askAttested: AskAttested
) {
  const { authorization, calls = [], chainId, settlement, swaps, transfers } = batch
  const [relayer] = relayers
  const {
    bundleGas: allowed,
    issuer,
    routedSwap
  } = yield* Effect.flatMap(EvmClients, (clients) => clients.chain(chainId))
  const routeTarget = routedSwap?.target
  const venues = { routeTarget, issuer: issuer?.manager }
  const { chain, settles, signature: ownerSignature } = yield* checkBatch(batch, agent.address, venues)
  const [{ blockNumber, state: account }, { block, nonces }, removals, attested] = yield* Effect.all(
    [
      readAccountState(chain),
      readBlock(chainId),
      removalCalls(chain, batch.replaced),
      attestedFor(batch, chain, askAttested)
    ],
    { concurrency: "unbounded" }
  )
  const gas = withSettlementGas(
    gasLimits(evmPolicy(chain), batch, {
      accountType: authorization.accountType,
      deployed: account.deployed,
      enables: account.mode === "enable",
      removals: removals.length
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
  if (calls.length > 0 && !account.deployed) {
    const reason = "the account is not deployed yet; its first rebalance or swap deploys it"
    return yield* new SimulationFailed({ chainId, reason })
  }
  const asked = calls.map(({ data, to }): Call => ({ target: toViem(to), data: data as Hex }))
  const trades = tradesOf(batch, chain, {
    deadline: block.timestamp + swapLifetimeSeconds,
    routeTarget,
    attested
  })
  const made = executeBatch([...removals, ...trades, ...asked, ...(settles === undefined ? [] : [settles])])
  const callData = withMark(made, batch.operationId)
  const operation: AgentOperation = { authorization, chain, ownerSignature, ...account, callData, gas }
  const unsigned = unsignedOperation(operation)
  const userOpHash = operationHash(unsigned, chainId)
  const agentSignature = yield* agent
    .sign(hashMessage({ raw: userOpHash }), {
      kind: "userOperation",
      chainId,
      accountId: chain.accountId,
      userOpHash
    })
    .pipe(Effect.mapError(({ message }) => new ChainUnavailable({ chainId, reason: message })))
  const handleOps = handleOpsData(
    packedOperation(unsigned, operationSignature(operation, agentSignature as Hex)),
    relayer
  )
  const simulated: OperationToSimulate = {
    chainId,
    account: addressOf(chain.accountId),
    relayer,
    handleOps,
    execute: callData,
    swaps,
    transfers,
    settlement,
    hasCalls: asked.length > 0,
    transactionGas: gasLimit,
    callGasLimit: gas.callGasLimit
  }
  yield* simulateOperation(simulated, simulate).pipe(
    Effect.tapErrorTag("SimulationFailed", ({ reason }) =>
      refusedByAccount(reason)
        ? requireAuthorization({ authorization, chain, mode: account.mode, relayer, handleOps, gas: gasLimit })
        : Effect.void
    )
  )
  const prepared: PreparedTransaction = {
    chainId,
    accountId: chain.accountId,
    subject: userOpHash,
    to: fromViem(entryPoint),
    callData: handleOps,
    gasLimit,
    // What leaves the account, for its owner or another chain, is not to be spoiled by the operations of others.
    ...(settlement === undefined && (transfers ?? []).length + calls.length === 0
      ? { bundleGas: bundleGasCap(block.gasLimit, allowed) }
      : {}),
    maxFeePerGas: block.maxFeePerGas,
    maxPriorityFeePerGas: block.maxPriorityFeePerGas,
    ...nonces,
    // What the nonce counts is in this block or before it; the operation itself comes later.
    fromBlock: blockNumber
  }
  return prepared
})
