/**
 * What an owner signs to withdraw: EIP-712 typed data, as the wallet shows it and as the account's chain rebuilds it,
 * or a text, by the terms of the account's family. Of typed data version "2" is the one that liquidates, and the order
 * of members is part of what is signed. Source: shapes 2.22, EIP-712.
 */
import {
  type ChainId,
  addressOf,
  chainIdOf,
  type AccountId,
  type Address,
  namespaceOf,
  type WalletId
} from "#domain/values/Caip.ts"
import type { OwnerMessage } from "#domain/account/OwnerMessage.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import type { Families } from "#domain/chain/Families.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"

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
  /** Types without `EIP712Domain`, which signers add. */
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

/** What stage 1 answers to be signed, by the chain of the account and the kind of the owner's key. */
export type SignedForm =
  | { readonly kind: "typed-data"; readonly typedData: WithdrawalTypedData }
  /** Text: a Solana key signs its bytes, an EVM wallet signs it as `personal_sign` does. */
  | { readonly kind: "text" | "personal-sign"; readonly text: string; readonly message: WithdrawalMessage }
  /** Operation for the native coin of an EVM chain: the hash of the account's operation, as its owner signs such. */
  | {
      readonly kind: "operation"
      readonly accountId: AccountId
      readonly signed: OwnerMessage
      readonly message: WithdrawalMessage
    }

interface Withdrawn {
  readonly message: WithdrawalMessage
  readonly domainName: string
  readonly accountId: AccountId
  readonly ownerAccountId: WalletId
}

/** The form in which the owner of an account signs a withdrawal from it. */
export const signedForm = (
  families: Families["Service"],
  { accountId, domainName, message, ownerAccountId }: Withdrawn
): SignedForm =>
  families[namespaceOf(accountId)].withdrawalForm === "typed-data"
    ? { kind: "typed-data", typedData: typedDataOf(message, domainName, accountId) }
    : { kind: families[namespaceOf(ownerAccountId)].textSigning, text: withdrawalText(domainName, message), message }
