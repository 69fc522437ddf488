/**
 * The EIP-712 typed data of a withdrawal, as the owner's wallet shows it and as the account's chain rebuilds it.
 * Version "2" is the one that liquidates. The order of members is part of what is signed. Source: shapes 2.22, EIP-712.
 */
import { type ChainId, addressOf, chainIdOf, type AccountId, type Address } from "#domain/Caip.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"

interface Member {
  readonly name: string
  readonly type: string
}

export interface WithdrawalTypedData {
  readonly domain: {
    readonly name: string
    readonly version: "1" | "2"
    readonly chainId: ChainId
    /** The smart account that the assets are taken from. */
    readonly verifyingContract: Address
  }
  /** Without `EIP712Domain`, which signers add. */
  readonly types: {
    readonly Withdrawal: ReadonlyArray<Member>
    readonly WithdrawalAsset: ReadonlyArray<Member>
  }
  readonly primaryType: "Withdrawal"
  readonly message: WithdrawalMessage
}

const withdrawalMembers: ReadonlyArray<Member> = [
  { name: "portfolioId", type: "string" },
  { name: "recipientAccountId", type: "string" },
  { name: "assets", type: "WithdrawalAsset[]" },
  { name: "nonce", type: "bytes32" },
  { name: "expiresAt", type: "uint256" }
]

const assetMembers: ReadonlyArray<Member> = [
  { name: "assetId", type: "string" },
  { name: "amountRaw", type: "string" }
]

const liquidateMember: Member = { name: "liquidate", type: "bool" }

/** `domainName` is the one that the owner's grant fixed, `account` the smart account that gives. */
export const typedDataOf = (
  message: WithdrawalMessage,
  domainName: string,
  account: AccountId
): WithdrawalTypedData => ({
  domain: {
    name: domainName,
    version: message.liquidate === true ? "2" : "1",
    chainId: chainIdOf(account),
    verifyingContract: addressOf(account)
  },
  types: {
    Withdrawal: message.liquidate === true ? [...withdrawalMembers, liquidateMember] : withdrawalMembers,
    WithdrawalAsset: assetMembers
  },
  primaryType: "Withdrawal",
  message
})
