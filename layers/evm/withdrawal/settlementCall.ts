/** The last call of a liquidation's batch, and the gas that it needs beside the swaps. */
import type { AccountType } from "#domain/account/Authorization.ts"
import type { LiquidationPayout } from "#domain/trading/ChainExecution.ts"
import { ownerSignature } from "#layers/evm/account/ownerSignature.ts"
import type { GasLimits } from "#layers/evm/execution/gasLimits.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { settleCall } from "#layers/evm/withdrawal/executorCalls.ts"

/** Null when what is stored cannot be the owner's signature. */
export const settlementCall = (settlement: LiquidationPayout, accountType: AccountType): Call | null => {
  const signature = ownerSignature(accountType, settlement.signature)
  return signature === undefined ? null : settleCall(settlement, signature)
}

/** Reading the permission's rule for one call more. */
const validateGas = 60_000n
/** Use of the nonce, the transfer, and a contract owner's own check of its keys. */
const settleGas = 600_000n
/** Spelling an asset's identifier out and hashing it. */
const assetGas = 40_000n

export const withSettlementGas = (gas: GasLimits, settlement: LiquidationPayout | undefined): GasLimits =>
  settlement === undefined
    ? gas
    : {
        ...gas,
        verificationGasLimit: gas.verificationGasLimit + validateGas,
        callGasLimit: gas.callGasLimit + settleGas + assetGas * BigInt(settlement.message.assets.length)
      }
