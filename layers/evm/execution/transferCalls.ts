/** The calls by which the account hands an amount to the bridge: an exact allowance, then the lock. */
import { encodeFunctionData, erc20Abi } from "viem"
import { chainIdOf, type EvmAddress } from "#domain/values/Caip.ts"
import type { BridgePolicy } from "#domain/account/Authorization.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { bridgeAbi } from "#layers/evm/contracts.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"

/** What is wrong with a transfer under what the owner allowed; undefined when nothing is. */
export const transferFault = (
  { amountRaw, bridgeAddress, buy, sell }: OutgoingTransfer,
  policy: BridgePolicy | undefined
): string | undefined => {
  if (policy === undefined) return "the owner did not allow anything to leave the chain"
  if (bridgeAddress !== policy.contract) return `the owner allowed bridge ${policy.contract}, not ${bridgeAddress}`
  if (addressOf(sell) !== policy.token) return `the owner allowed ${policy.token} to leave, not ${sell}`
  if (amountRaw <= 0n) return "a transfer needs an amount"
  const isListed = policy.destinations.some(
    ({ chainId, token }) => chainId === chainIdOf(buy) && token === addressOf(buy)
  )
  return isListed ? undefined : `the owner did not allow ${buy} as a destination`
}

export const transferCalls = (transfer: OutgoingTransfer, account: EvmAddress): ReadonlyArray<Call> => {
  const bridge = toViem(transfer.bridgeAddress)
  const token = toViem(addressOf(transfer.sell))
  return [
    {
      target: token,
      data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bridge, transfer.amountRaw] })
    },
    { target: bridge, data: lockData(transfer, account) }
  ]
}

/** Calldata of the lock: the amount, and the recipient, token and chain of the bridge's payment. */
export const lockData = (
  { amountRaw, buy, minRaw, sell }: Pick<OutgoingTransfer, "amountRaw" | "buy" | "minRaw" | "sell">,
  recipient: EvmAddress
) =>
  encodeFunctionData({
    abi: bridgeAbi,
    functionName: "lock",
    args: [
      toViem(addressOf(sell)),
      amountRaw,
      BigInt(chainIdOf(buy)),
      toViem(addressOf(buy)),
      minRaw,
      toViem(recipient)
    ]
  })
