/** A person who signs in with a wallet, and what they are to a tenant. */
import { type DateTime, Schema } from "effect"
import { EvmAccountId, EvmWalletId } from "#domain/Caip.ts"
import type { TenantId, UserId } from "#domain/Ids.ts"

/**
 * Whose word counts. A key is the same on every chain (`eip155:0:<address>`). A contract is not, since another person
 * may rule over the same address elsewhere (`eip155:<chain>:<address>`).
 */
export const WalletId = Schema.Union([EvmWalletId, EvmAccountId])
export type WalletId = typeof WalletId.Type

/** An `owner` manages keys and members, a `viewer` sees them. */
export const Role = Schema.Literals(["owner", "viewer"])
export type Role = typeof Role.Type

export interface User {
  readonly userId: UserId
  readonly walletId: WalletId
  readonly createdAt: DateTime.Utc
}

export interface Member extends User {
  readonly tenantId: TenantId
  readonly role: Role
  readonly joinedAt: DateTime.Utc
}
