/** The calls by which the account hands an amount to the bridge: an exact allowance, then the deposit. */
import { encodeFunctionData, erc20Abi, pad, zeroHash } from "viem"
import { chainIdOf, type EvmAddress } from "#domain/values/Caip.ts"
import type { BridgePolicy } from "#domain/account/Authorization.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { spokePoolAbi } from "#layers/evm/contracts.ts"
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

/** Seconds in which a deposit is filled, or comes back. */
const fillSeconds = 4 * 3_600

interface DepositTimes {
  /** Seconds since 1970 by the source chain's clock: when it was quoted, and until when it may be filled. */
  readonly quotedAt: number
  readonly fillDeadline: number
}

export const transferCalls = (
  transfer: OutgoingTransfer,
  account: EvmAddress,
  quotedAt: bigint
): ReadonlyArray<Call> => {
  const bridge = toViem(transfer.bridgeAddress)
  const token = toViem(addressOf(transfer.sell))
  const times = { quotedAt: Number(quotedAt), fillDeadline: Number(quotedAt) + fillSeconds }
  return [
    {
      target: token,
      data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bridge, transfer.amountRaw] })
    },
    { target: bridge, data: depositData(transfer, account, times) }
  ]
}

/** Calldata of the deposit: the amount, and the recipient, token and chain of the bridge's payment. */
export const depositData = (
  { amountRaw, buy, minRaw, sell }: Pick<OutgoingTransfer, "amountRaw" | "buy" | "minRaw" | "sell">,
  account: EvmAddress,
  { fillDeadline, quotedAt }: DepositTimes
) => {
  const own = pad(toViem(account))
  return encodeFunctionData({
    abi: spokePoolAbi,
    functionName: "deposit",
    args: [
      own,
      own,
      pad(toViem(addressOf(sell))),
      pad(toViem(addressOf(buy))),
      amountRaw,
      minRaw,
      BigInt(chainIdOf(buy)),
      zeroHash,
      quotedAt,
      fillDeadline,
      0,
      "0x"
    ]
  })
}
