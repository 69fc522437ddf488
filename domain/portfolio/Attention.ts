/**
 * What of a portfolio needs a person to act, and which one; pure. A portfolio that needs none has no entry, whether it
 * trades or is on target.
 */
import { DateTime, Schema } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"

/**
 * `signature_required`: a chain lets the agent act no longer. `permission_expired` and `permission_expiring`: what the
 * owner signed has run out, or does within 14 days. `permission_revoked`: the owner took it back.
 * `permission_outdated`: it predates the trade guard. `run_failed`: the last run did. `transfer_unclear`: value between
 * chains is late, or provider and chain disagree. `outcome_unclear`: something was sent to a chain, and the chain has
 * not shown what became of it. `gas_too_dear`: what was sent waits for cheaper gas. `chain_behind`: the nodes of a
 * chain are behind what is known of the portfolio. `foreign_authority`: somebody else may move what is held.
 */
export const AttentionCode = Schema.Literals([
  "signature_required",
  "permission_expired",
  "permission_expiring",
  "permission_revoked",
  "permission_outdated",
  "run_failed",
  "transfer_unclear",
  "outcome_unclear",
  "gas_too_dear",
  "chain_behind",
  "foreign_authority"
])
export type AttentionCode = typeof AttentionCode.Type

/** Who has to act: the end user, the integrator, or the operator of the service. */
export const Actor = Schema.Literals(["owner", "integrator", "operator"])
export type Actor = typeof Actor.Type

export interface Attention {
  readonly code: AttentionCode
  /** Time since which it is so; for what is to come, when it comes. */
  readonly since: DateTime.Utc
  readonly actor: Actor
  /** Sentence for people: what is wrong, and what to do. */
  readonly action: string
  /** The operation that waits or failed. */
  readonly operationId: OperationId | null
}

/** What is known of a portfolio at one moment. */
export interface AttentionFacts {
  readonly portfolioId: PortfolioId
  readonly createdAt: DateTime.Utc
  readonly revokedAt: DateTime.Utc | null
  /** The earliest end of its permissions. */
  readonly permissionEndsAt: DateTime.Utc | null
  /** Every account is under the trade guard. */
  readonly isGuarded: boolean
  readonly awaited: ReadonlyArray<{ readonly chainId: ChainId; readonly cause: string; readonly since: DateTime.Utc }>
  readonly lastRun: {
    readonly operationId: OperationId
    readonly hasFailed: boolean
    readonly at: DateTime.Utc
    readonly error: string | null
  } | null
  /** Those between chains that have not ended. */
  readonly openTransfers: ReadonlyArray<{
    readonly operationId: OperationId
    readonly openedAt: DateTime.Utc
    /** Null while provider and chains agree that it is on its way. */
    readonly unclearSince: DateTime.Utc | null
    readonly reason: string | null
  }>
  /** Who else may move assets of the accounts, as the last run found it. */
  readonly authorities: ReadonlyArray<ForeignAuthority & { readonly since: DateTime.Utc }>
  /** Other operations that wait for a chain's answer. */
  readonly unclear: ReadonlyArray<{
    readonly operationId: OperationId
    /** What became of what it sent, cheaper gas for that, or a reading of the account before anything is sent. */
    readonly waitsFor: "outcome" | "gas" | "reading"
    readonly since: DateTime.Utc
    readonly reason: string | null
  }>
}

/** How long a transfer may be under way, in hours; bridges take minutes. */
const lateAfterHours = 1

/** How long before the end of a permission its owner should sign. */
const noticeDays = 14

const causes: Readonly<Record<string, string>> = {
  agent_changed: "the service signs as another agent than the owner permitted",
  permission_revoked: "the owner took the permission back on the chain",
  signature_refused: "the account does not take the owner's signature"
}

const inBrackets = (reason: string | null) => (reason === null ? "" : ` (${reason})`)

const waits: Readonly<
  Record<AttentionFacts["unclear"][number]["waitsFor"], (why: string) => Pick<Attention, "code" | "action">>
> = {
  outcome: (why) => ({
    code: "outcome_unclear",
    action: `It is not known what became of what was sent${why}: the service searches for it until the chain shows it, and trades nothing else meanwhile; ask the operator`
  }),
  gas: (why) => ({
    code: "gas_too_dear",
    action: `What was sent waits, since gas is dear${why}: the service makes it anew by plan once it is taken back, and trades nothing else meanwhile; nothing is to be done, unless the operator allows more for gas`
  }),
  reading: (why) => ({
    code: "chain_behind",
    action: `The nodes of a chain are behind what is known of the account${why}: the service reads again, and trades nothing meanwhile; ask the operator`
  })
}

export const attentionOf = (facts: AttentionFacts, now: DateTime.Utc): ReadonlyArray<Attention> => {
  const {
    authorities,
    awaited,
    createdAt,
    isGuarded,
    lastRun,
    openTransfers,
    permissionEndsAt,
    portfolioId,
    revokedAt,
    unclear
  } = facts
  const resign = `let the owner sign anew at /v2/portfolios/${portfolioId}/resign/signature`
  const found: Array<Attention> = []
  const owner = (code: AttentionCode, since: DateTime.Utc, action: string) =>
    found.push({ code, since, actor: "owner", action, operationId: null })
  if (revokedAt !== null) owner("permission_revoked", revokedAt, `The owner revoked the agent's permission: ${resign}`)
  for (const { cause, chainId, since } of revokedAt === null ? awaited : [])
    owner(
      "signature_required",
      since,
      `Chain ${chainId} is not traded, because ${causes[cause] ?? cause}: let the owner sign anew at /v2/portfolios/${portfolioId}/chains/signature`
    )
  if (revokedAt === null && permissionEndsAt !== null) {
    if (DateTime.isLessThan(permissionEndsAt, now))
      owner("permission_expired", permissionEndsAt, `The agent's permission has run out: ${resign}`)
    else if (DateTime.isLessThan(permissionEndsAt, DateTime.add(now, { days: noticeDays })))
      owner("permission_expiring", permissionEndsAt, `The agent's permission runs out: ${resign}`)
  }
  if (revokedAt === null && !isGuarded)
    owner("permission_outdated", createdAt, `An account is under a permission without the trade guard: ${resign}`)
  for (const { assetId, holder, since } of authorities)
    owner(
      "foreign_authority",
      since,
      `${holder} may move ${assetId} or close its account, which the service never allows, and it is not traded: deposit nothing, withdraw it, and put another key into the agent's role (docs/solana.md)`
    )
  if (lastRun?.hasFailed === true)
    found.push({
      code: "run_failed",
      since: lastRun.at,
      actor: "integrator",
      action: `The last run failed (${lastRun.error ?? "no reason is known"}): the next one tries again; POST /v2/portfolios/${portfolioId}/rebalance starts one now`,
      operationId: lastRun.operationId
    })
  for (const { openedAt, operationId, reason, unclearSince } of openTransfers) {
    const lateAt = DateTime.add(openedAt, { hours: lateAfterHours })
    const isLate = DateTime.isLessThan(lateAt, now)
    if (!isLate && unclearSince === null) continue
    const what = isLate
      ? `A transfer between chains that left at ${DateTime.formatIso(openedAt)} has not arrived`
      : "The chains of a transfer do not agree on it"
    found.push({
      code: "transfer_unclear",
      since: unclearSince === null || (isLate && DateTime.isLessThan(lateAt, unclearSince)) ? lateAt : unclearSince,
      actor: "operator",
      action: `${what}${inBrackets(reason)}: the service searches for it until it is found, and moves nothing else between chains; ask the operator`,
      operationId
    })
  }
  for (const { operationId, reason, since, waitsFor } of unclear) {
    const { action, code } = waits[waitsFor](inBrackets(reason))
    found.push({ code, since, actor: "operator", action, operationId })
  }
  return found
}
