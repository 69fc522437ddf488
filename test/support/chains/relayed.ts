/** Writes what the relayer included for an account straight to the store. */
import { DateTime, Effect } from "effect"
import { type AssetId, chainIdOf, type AccountId, type EvmAddress } from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"

const bytes32 = (value: number) => `0x${value.toString(16).padStart(64, "0")}`

export interface Settled {
  readonly blockNumber: bigint
  readonly success?: boolean
  readonly deltas: ReadonlyArray<readonly [AssetId, bigint]>
}

interface RelayedAttempt {
  readonly operationId: OperationId
  readonly accountId: AccountId
  readonly attempt: number
}

export const attemptOf = (operationId: OperationId, accountId: AccountId, attempt = 1): RelayedAttempt => ({
  operationId,
  accountId,
  attempt
})

/** Signs a transaction of an operation; settles it when an end is given. Each attempt has a relayer of its own. */
export const relayed = Effect.fnUntraced(function* (
  { accountId, attempt, operationId }: RelayedAttempt,
  settled?: Settled,
  actionHash = bytes32(attempt)
) {
  const relays = yield* RelayStore
  const at = yield* DateTime.now
  const chainId = chainIdOf(accountId)
  const id = { operationId, chainId, attempt }
  const relayer = Eip55.checksum(`0x${(0xfee0_0000 + attempt).toString(16).padStart(40, "0")}`) as EvmAddress
  const prepared = {
    _tag: "Evm" as const,
    chainId,
    accountId,
    actionHash,
    to: relayer,
    callData: "0x",
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    chainNonce: 0,
    laneNonces: [],
    fromBlock: 1n
  }
  yield* relays.reserve([{ attempt: id, prepared }], {
    accounts: [relayer],
    at,
    sign: (nonce) =>
      Effect.succeed({
        chainId,
        actionHash,
        relayer,
        nonce,
        txHash: bytes32(nonce),
        raw: "0x02",
        fromBlock: 1n,
        replaces: []
      })
  })
  if (settled === undefined) return
  const { blockNumber, deltas, success = true } = settled
  yield* relays.recordReceipt(
    id,
    {
      actionHash,
      txHash: bytes32(1),
      blockNumber,
      blockHash: bytes32(2),
      success,
      gasUsed: 1n,
      deltas: deltas.map(([assetId, raw]) => ({ assetId, raw }))
    },
    at
  )
})
