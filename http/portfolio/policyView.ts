/** What the agent may do, as v2 shows it. */
import { DateTime } from "effect"
import type { PortfolioId } from "#domain/values/Ids.ts"
import type { ChainPolicy, GuardReading } from "#domain/policy/ChainPolicy.ts"
import type { AccountPolicy } from "#domain/policy/Policies.ts"

/** Billionths of a whole as percent. */
const percentOf = (billionths: bigint): string =>
  `${billionths / 10_000_000n}.${(billionths % 10_000_000n).toString().padStart(7, "0")}`

const guardView = ({ budgetBps, closedRoot, lossLeft, tradeBps, turnoverLeft, ...guard }: GuardReading) => ({
  ...guard,
  maxTradeLossBps: tradeBps,
  maxWeeklyLossBps: budgetBps,
  lossLeft: percentOf(lossLeft),
  turnoverLeft: percentOf(turnoverLeft),
  closedListRoot: closedRoot
})

const chainView = ({ allowed, blockNumber, blockTime, checks, guard, isDeployed, permissions }: ChainPolicy) => ({
  blockNumber: blockNumber.toString(),
  blockTime: DateTime.formatIso(blockTime),
  isDeployed,
  permissions: permissions.map(({ validUntil, ...permission }) => ({
    ...permission,
    validUntil: validUntil === null ? null : DateTime.formatIso(validUntil)
  })),
  allowedCalls: allowed,
  guard: guard === null ? null : guardView(guard),
  checks
})

export const policyView = (portfolioId: PortfolioId, accounts: ReadonlyArray<AccountPolicy>) => ({
  portfolioId,
  accounts: accounts.map(({ accountId, chain, kind }) => ({
    accountId,
    kind,
    chain: chain === null ? null : chainView(chain)
  }))
})
