/** User operations on a simulated chain. */
import { Effect, Layer, Option } from "effect"
import type { ChainId } from "#domain/Caip.ts"
import { ChainExecution, SimulationFailed, type SwapBatch } from "#domain/rebalance/ChainExecution.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt, PreparedTransaction } from "#domain/relay/Transaction.ts"
import { onChain, shownHead } from "#test/simulation/ports/link.ts"
import { findOperation } from "#test/simulation/ports/receipts.ts"
import { lanesOf } from "#test/simulation/ports/SimulatedRelayer.ts"
import type { Chain } from "#test/simulation/world/Chain.ts"
import { type Payload, subjectOf, type UserOperation, writePayload } from "#test/simulation/world/Payload.ts"
import type { World } from "#test/simulation/world/World.ts"

/** How long after the latest block a swap may still be included. */
const lifetimeSeconds = 1_200

/** What is signed for a payload, as of now; fails when the chain says that it would not take effect. */
export const prepareOn = Effect.fnUntraced(function* (
  world: World,
  chainId: ChainId,
  payloadOn: (chain: Chain) => Payload
) {
  const [first, ...others] = lanesOf(world)
  const found = yield* onChain(world, chainId, (chain) => {
    const payload = payloadOn(chain)
    const { reason, success } = chain.simulate(payload)
    const prepared: PreparedTransaction = {
      chainId,
      accountId: payload.accountId,
      subject: subjectOf(payload),
      to: first,
      callData: writePayload(payload),
      gasLimit: 100_000n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      chainNonce: chain.mempool.pending(first),
      laneNonces: others.map((relayer) => ({ relayer, nonce: chain.mempool.pending(relayer) })),
      fromBlock: BigInt(chain.head())
    }
    return { prepared, reason, success }
  })
  if (found.success) return found.prepared
  return yield* found.reason.startsWith("AA25")
    ? new ChainUnavailable({ chainId, reason: `the account changed meanwhile (${found.reason})` })
    : new SimulationFailed({ chainId, reason: found.reason })
})

const operationOf = ({ authorization, chainId, settlement, swaps, transfers = [] }: SwapBatch, chain: Chain) => {
  const { accountId } = authorization.chains.find((one) => one.chainId === chainId)!
  const operation: UserOperation = {
    _tag: "UserOperation",
    accountId,
    nonce: chain.accounts.nonces.get(accountId) ?? 0,
    deadline: chain.blockSeconds + lifetimeSeconds,
    swaps,
    transfers,
    settlement:
      settlement === undefined
        ? null
        : { message: settlement.message, assetId: settlement.assetId, keepRaw: settlement.keepRaw }
  }
  return operation
}

/** A receipt that is not what the chain shows. */
const oneUnitMore = (receipt: ActionReceipt): ActionReceipt => ({
  ...receipt,
  deltas: receipt.deltas.map(({ assetId, raw }) => ({ assetId, raw: raw + 1n }))
})

export const simulatedExecution = (world: World) =>
  Layer.succeed(
    ChainExecution,
    ChainExecution.of({
      prepare: (batch) => prepareOn(world, batch.chainId, (chain) => operationOf(batch, chain)),
      find: (transaction, accountId) =>
        onChain(world, transaction.chainId, (chain) => {
          const settled = shownHead(world, chain) - chain.confirmations + 1
          const found = findOperation(chain, transaction, accountId, settled)
          return world.sabotage === "receipts lie" ? Option.map(found, oneUnitMore) : found
        })
    })
  )
