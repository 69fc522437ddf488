/** The agent's signature on a user operation, and the transaction in which a relayer submits it. */
import { Effect } from "effect"
import { type Address, hashMessage, type Hex } from "viem"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Signer } from "#domain/relay/Signer.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { entryPointAbi } from "#layers/evm/contracts.ts"
import {
  type AgentOperation,
  operationHash,
  operationSignature,
  packedOperation,
  unsignedOperation
} from "#layers/evm/execution/agentOperation.ts"

export interface SignedOperation {
  readonly userOpHash: Hex
  /** Calldata of `handleOps` with the one operation. */
  readonly handleOps: Hex
}

const handleOps = callDataOf(entryPointAbi, "handleOps")

export const signOperation = Effect.fnUntraced(function* (
  operation: AgentOperation,
  agent: Signer,
  beneficiary: Address
) {
  const { accountId, chainId } = operation.chain
  const unsigned = unsignedOperation(operation)
  const userOpHash = operationHash(unsigned, chainId)
  const signature = yield* agent
    .sign(hashMessage({ raw: userOpHash }), { kind: "userOperation", chainId, accountId, userOpHash })
    .pipe(Effect.mapError(({ message }) => new ChainUnavailable({ chainId, reason: message })))
  const packed = packedOperation(unsigned, operationSignature(operation, signature as Hex))
  return { userOpHash, handleOps: handleOps([packed], beneficiary).toLowerCase() as Hex } satisfies SignedOperation
})
