/** What owners authorize in contract tests, where no chain holds it against anything. */
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { AgentPolicy, TradeGuardPolicy } from "#domain/account/Authorization.ts"
import type { GuardTerms } from "#domain/account/Permission.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { addressesOf } from "#layers/evm/address.ts"

export const bytes32 = (fill: string) => `0x${fill.repeat(32)}`

export const policy: AgentPolicy = {
  _tag: "Evm",
  router: Eip55.checksum(`0x${"42".repeat(20)}`) as EvmAddress,
  connectorTokens: [],
  tokens: []
}

/** What an owner signs of a guard. */
export const guarded = (terms: GuardTerms | undefined): TradeGuardPolicy => ({
  contract: policy.router,
  issuedAt: 1,
  validUntil: 2,
  tradeBps: terms?.tradeBps ?? 0,
  budgetBps: terms?.budgetBps ?? 0,
  ...(terms?.closedList === undefined ? {} : { closedTokens: addressesOf(terms.closedList) })
})
