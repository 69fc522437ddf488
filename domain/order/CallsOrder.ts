/**
 * Calls of an account that an integrator encoded itself.
 * Source: interface "Legacy execution (v1)".
 */
import { Schema } from "effect"
import { HexBytes } from "#domain/account/Authorization.ts"
import { ChainId, AccountId, EvmAddress } from "#domain/values/Caip.ts"

/** A call without native value: no permission of the agent lets any leave. */
export const AccountCall = Schema.Struct({ to: EvmAddress, data: HexBytes })
export type AccountCall = typeof AccountCall.Type

export const CallsOrder = Schema.Struct({
  _tag: Schema.tag("Calls"),
  chainId: ChainId,
  accountId: AccountId,
  calls: Schema.NonEmptyArray(AccountCall)
})
export type CallsOrder = typeof CallsOrder.Type

/** How long after their request calls are still made: as long as the chain shows whether they were. */
export const lifeOfCalls = { hours: 2 } as const
