/** Which account receives a transfer. */
import { type AccountId, addressOf, chainIdOf, evmAccount, type EvmAddress, namespaceOf } from "#domain/Caip.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"

/**
 * The account that the transfer names, or of an EVM account the one with its address on the chain of `buy`. A transfer
 * between two families names its recipient: one that does not is a defect.
 */
export const receiverOf = (accountId: AccountId, { buy, recipient }: OutgoingTransfer): AccountId => {
  if (recipient !== undefined) return recipient
  if (namespaceOf(accountId) !== "eip155" || namespaceOf(buy) !== "eip155") {
    throw new Error(`A transfer from ${accountId} of ${buy} names no recipient; only EVM accounts have one address`)
  }
  return evmAccount(chainIdOf(buy), addressOf(accountId) as EvmAddress)
}
