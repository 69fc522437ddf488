/** Calls of the withdrawal executor (contracts/WithdrawalExecutor.sol), and the digest that it checks. */
import { encodeFunctionData, hashTypedData, type Hex } from "viem"
import type { AccountType } from "#domain/account/Authorization.ts"
import type { LiquidationPayout } from "#domain/trading/SwapBatches.ts"
import { type WithdrawalTypedData, typedDataOf } from "#domain/withdrawal/signedForm.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import { tokensOf, type WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { ownerSignature } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"

/** The EIP-712 digest of the typed data that a wallet was shown. */
const typedDataDigest = ({ domain, message, primaryType, types }: WithdrawalTypedData): Hex =>
  hashTypedData<Record<string, unknown>, string>({
    domain: { ...domain, verifyingContract: toViem(domain.verifyingContract) },
    types,
    primaryType,
    message
  })

/** The digest that the owner signs; undefined for an account that was made without the executor. */
export const withdrawalDigest = ({ accountId, grant, message }: AuthorizedWithdrawal): Hex | undefined => {
  const name = grant.authorization.withdrawalDomainName
  return name === null ? undefined : typedDataDigest(typedDataOf(message, name, accountId))
}

/** The signed assets as the contract takes them. */
export const assetsOnChain = (message: WithdrawalMessage) =>
  tokensOf(message).map(({ amountRaw, assetId }) => ({
    token: toViem(addressOf(assetId)),
    amount: BigInt(amountRaw)
  }))

/** The message as the contract takes it: addresses and numbers, from which it rebuilds the texts that were signed. */
const onChain = (message: WithdrawalMessage) => {
  const { expiresAt, nonce, portfolioId, recipientAccountId } = message
  return {
    portfolioId,
    recipient: toViem(addressOf(recipientAccountId)),
    assets: assetsOnChain(message),
    nonce: nonce as Hex,
    expiresAt: BigInt(expiresAt)
  }
}

export const withdrawCall = ({ accountId, message }: AuthorizedWithdrawal, signature: Hex): Call => ({
  target: withdrawalExecutor,
  data: encodeFunctionData({
    abi: withdrawalExecutorAbi,
    functionName: "withdraw",
    args: [toViem(addressOf(accountId)), onChain(message), signature]
  })
})

const settleCall = ({ assetId, keepRaw, message }: LiquidationPayout, signature: Hex): Call => ({
  target: withdrawalExecutor,
  data: encodeFunctionData({
    abi: withdrawalExecutorAbi,
    functionName: "settle",
    args: [onChain(message), signature, toViem(addressOf(assetId)), keepRaw]
  })
})

/** The last call of a liquidation's batch. Null when what is stored cannot be the owner's signature. */
export const settlementCall = (settlement: LiquidationPayout, accountType: AccountType): Call | null => {
  const signature = ownerSignature(accountType, settlement.signature)
  return signature === undefined ? null : settleCall(settlement, signature)
}

export const isUsedCall = ({ accountId, message }: AuthorizedWithdrawal): Call => ({
  target: withdrawalExecutor,
  data: encodeFunctionData({
    abi: withdrawalExecutorAbi,
    functionName: "isUsed",
    args: [toViem(addressOf(accountId)), message.nonce as Hex]
  })
})
