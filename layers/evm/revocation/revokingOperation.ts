/** The user operation by which an owner voids permissions. Source: Kernel 0.3.1 (`invalidateNonce`). */
import { encodeFunctionData } from "viem"
import type { AccountType } from "#domain/account/Authorization.ts"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import { kernelAbi } from "#layers/evm/contracts.ts"
import type { OwnersOperation } from "#layers/evm/account/ownersOperation.ts"

export const revokingGas = 150_000n

type Terms = Pick<ChainRevocation, "accountId" | "operationNonce" | "validFrom">

export const revokingOperation = (
  { accountId, operationNonce, validFrom }: Terms,
  accountType: AccountType
): OwnersOperation => ({
  accountType,
  accountId,
  operationNonce,
  callData: encodeFunctionData({ abi: kernelAbi, functionName: "invalidateNonce", args: [validFrom] }),
  callGasLimit: revokingGas
})
