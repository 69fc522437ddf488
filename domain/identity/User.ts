/** A person who signs in with a wallet, and what they are to a tenant. */
import { type DateTime, Schema } from "effect"
import {
  addressOf,
  type ChainId,
  evmAccount,
  EvmAccountId,
  type EvmAddress,
  EvmWalletId,
  type WalletId
} from "#domain/values/Caip.ts"
import type { TenantId, UserId } from "#domain/values/Ids.ts"

/**
 * The wallet that signs in. A key is the same on every chain (`eip155:0:<address>`). A contract is not, since another
 * person may rule over the same address elsewhere (`eip155:<chain>:<address>`).
 */
export const SignInWalletId = Schema.Union([EvmWalletId, EvmAccountId])
export type SignInWalletId = typeof SignInWalletId.Type

/** The wallet of an owner that is a contract: the same address on another chain may be ruled by another person. */
export const contractWallet = (chainId: ChainId, owner: WalletId): SignInWalletId =>
  evmAccount(chainId, addressOf(owner) as EvmAddress)

/** An `owner` manages keys and members, a `viewer` sees them. */
export const Role = Schema.Literals(["owner", "viewer"])
export type Role = typeof Role.Type

export interface User {
  readonly userId: UserId
  readonly walletId: SignInWalletId
  readonly createdAt: DateTime.Utc
}

export interface Member extends User {
  readonly tenantId: TenantId
  readonly role: Role
  readonly joinedAt: DateTime.Utc
}
