/**
 * What an owner signs to end every permission of the agent: on each chain one user operation of the account itself,
 * which raises the nonce below which permissions, and signatures that were never used, are void. Source: Kernel 0.3.1
 * (`invalidateNonce`), ERC-4337; docs/decisions/0115-revocations.md.
 */
import { Schema } from "effect"
import { ChainId, AccountId, WalletId } from "#domain/values/Caip.ts"
import { AccountType, Bytes32, PermissionId } from "#domain/account/Authorization.ts"

export const ChainRevocation = Schema.Struct({
  chainId: ChainId,
  accountId: AccountId,
  /** The permission that counted when stage 1 was answered. */
  permissionId: PermissionId,
  /** The account's nonce afterwards: what was authorized at a lower one holds no longer. */
  validFrom: Schema.Int,
  /** Nonce of the user operation, under a key that nothing else uses. */
  operationNonce: Schema.BigIntFromString,
  /** Hash of the user operation; the chain carries it out once, from any sender. */
  digest: Bytes32
})
export type ChainRevocation = typeof ChainRevocation.Type

export const Revocation = Schema.Struct({
  accountType: AccountType,
  ownerAccountId: WalletId,
  accountIndex: Schema.BigIntFromString,
  withdrawalDomainName: Schema.NullOr(Schema.String),
  chains: Schema.NonEmptyArray(ChainRevocation),
  /** Merkle root over the chains' digests, of one chain its digest: the 32 bytes that the owner signs. */
  root: Bytes32
})
export type Revocation = typeof Revocation.Type
