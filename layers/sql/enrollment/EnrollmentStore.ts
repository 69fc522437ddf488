/** Flows of owners' signatures, account indexes, and what a signature makes or adds, in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ChainId, type WalletId } from "#domain/values/Caip.ts"
import { Authorization } from "#domain/account/Authorization.ts"
import { IssuedSubAccount } from "#domain/account/SolanaWallets.ts"
import { type Activated, type EnrollmentFlow, EnrollmentOutcome } from "#domain/enrollment/Enrollment.ts"
import {
  type FlowClaim,
  type ClaimRequest,
  type CommitResult,
  EnrollmentStore,
  type NewGrant,
  type NewPortfolio
} from "#domain/enrollment/EnrollmentStore.ts"
import { Grant } from "#domain/account/Grant.ts"
import { FlowId, PortfolioId, StrategyId, TenantId } from "#domain/values/Ids.ts"
import { insertGrant } from "#layers/sql/enrollment/insertGrant.ts"
import { insertPortfolio } from "#layers/sql/enrollment/insertPortfolio.ts"
import { decodeFirst, Numeric, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const FlowRow = Schema.Struct({
  flowId: FlowId,
  tenantId: TenantId,
  portfolioId: Schema.NullOr(PortfolioId),
  isRenewal: Schema.Boolean,
  strategyId: StrategyId,
  authorization: Authorization,
  subAccount: Schema.NullOr(IssuedSubAccount),
  createdAt: Timestamp,
  expiresAt: Timestamp
})

/** A flow names the portfolio that it is about; one that makes a portfolio names none. */
const toFlow = ({ isRenewal, subAccount, portfolioId, ...row }: typeof FlowRow.Type): EnrollmentFlow => ({
  ...row,
  ...(subAccount === null ? {} : { subAccount }),
  purpose: portfolioId === null ? { _tag: "Enroll" } : { _tag: isRenewal ? "Renew" : "Activate", portfolioId }
})

const EnrolledRow = Schema.Struct({
  strategyId: StrategyId,
  grants: Schema.NonEmptyArray(Grant),
  awaited: Schema.Array(ChainId),
  isRevoking: Schema.Boolean
})

const ClaimRow = Schema.Struct({ isSameBody: Schema.Boolean, outcome: Schema.NullOr(EnrollmentOutcome) })

const firstFlow = decodeFirst(FlowRow)
const firstEnrolled = decodeFirst(EnrolledRow)
const firstPortfolio = decodeFirst(Schema.Struct({ portfolioId: PortfolioId }))
const firstClaim = decodeFirst(ClaimRow)
const firstIndex = decodeFirst(Schema.Struct({ nextIndex: Numeric }))

const encodeAuthorization = Schema.encodeSync(Authorization)
const encodeSubAccount = Schema.encodeSync(IssuedSubAccount)
const encodeOutcome = Schema.encodeSync(EnrollmentOutcome)

const refuse = (refusal: Exclude<CommitResult, { readonly _tag: "Committed" }>) => Effect.fail(refusal)

const missingFlow = (flowId: FlowId) =>
  Effect.die(new Error(`Enrollment flow ${flowId} does not exist or another call stored its outcome`))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const candidateIndex = Effect.fn("EnrollmentStore.candidateIndex")((owner: WalletId) =>
    Effect.map(
      firstIndex(sql`SELECT next_index AS "nextIndex" FROM owner_indexes WHERE owner_account_id = ${owner}`),
      Option.match({ onNone: () => 0n, onSome: (row) => row.nextIndex })
    )
  )

  const findEnrolled = Effect.fn("EnrollmentStore.findEnrolled")((tenantId: TenantId, portfolioId: PortfolioId) =>
    firstEnrolled(sql`
      SELECT p.strategy_id AS "strategyId", (SELECT jsonb_agg(jsonb_build_object('authorization',
        g.authorization_document, 'ownerSignature', g.owner_signature) ORDER BY g.sequence)
        FROM grants g WHERE g.portfolio_id = p.portfolio_id) AS grants,
        (SELECT coalesce(jsonb_agg(a.chain_id), '[]'::jsonb) FROM awaited_signatures a
          WHERE a.portfolio_id = p.portfolio_id) AS awaited,
        EXISTS (SELECT FROM revocations r JOIN operations o ON o.operation_id = r.operation_id
          WHERE r.portfolio_id = p.portfolio_id AND o.finished_at IS NULL) AS "isRevoking"
      FROM portfolios p
      WHERE p.portfolio_id = ${portfolioId} AND p.tenant_id = ${tenantId} AND p.archived_at IS NULL`)
  )

  const findPortfolio = Effect.fn("EnrollmentStore.findPortfolio")(
    (tenantId: TenantId, strategyId: StrategyId, owner: WalletId) =>
      Effect.map(
        firstPortfolio(sql`
          SELECT portfolio_id AS "portfolioId" FROM portfolios
          WHERE tenant_id = ${tenantId} AND strategy_id = ${strategyId} AND owner_account_id = ${owner}
            AND archived_at IS NULL`),
        Option.map(({ portfolioId }) => portfolioId)
      )
  )

  const insertFlow = Effect.fn("EnrollmentStore.insertFlow")(function* (flow: EnrollmentFlow) {
    const { purpose } = flow
    // A strategy that is being deleted is waited for: it is gone then, or archived.
    const inserted = yield* sql`
      INSERT INTO enrollment_flows (flow_id, tenant_id, portfolio_id, is_renewal, strategy_id, authorization_document,
        sub_account, created_at, expires_at)
      SELECT ${flow.flowId}, ${flow.tenantId}, ${purpose._tag === "Enroll" ? null : purpose.portfolioId},
        ${purpose._tag === "Renew"}::boolean, strategy_id,
        ${storableJson(encodeAuthorization(flow.authorization))}::jsonb,
        ${flow.subAccount === undefined ? null : storableJson(encodeSubAccount(flow.subAccount))}::jsonb,
        ${timestamp(flow.createdAt)}, ${timestamp(flow.expiresAt)}
      FROM strategies WHERE strategy_id = ${flow.strategyId} FOR KEY SHARE RETURNING 1`
    return inserted.length > 0
  }, Effect.orDie)

  const findFlow = Effect.fn("EnrollmentStore.findFlow")((tenantId: TenantId, flowId: FlowId) =>
    Effect.map(
      firstFlow(sql`
        SELECT flow_id AS "flowId", tenant_id AS "tenantId", portfolio_id AS "portfolioId", is_renewal AS "isRenewal",
          strategy_id AS "strategyId", authorization_document AS authorization, sub_account AS "subAccount",
          created_at AS "createdAt", expires_at AS "expiresAt"
        FROM enrollment_flows WHERE flow_id = ${flowId} AND tenant_id = ${tenantId}`),
      Option.map(toFlow)
    )
  )

  const claim = Effect.fn("EnrollmentStore.claim")(function* (request: ClaimRequest) {
    const { flowId, requestHash } = request
    // A body binds the flow until it gives it up or its lease runs out: a process that died with a wrong signature
    // must not keep the right one out. Of two that are at work all the same, only one can write the outcome.
    const claimed = yield* sql`
      UPDATE enrollment_flows SET request_hash = ${requestHash}, lease_until = ${timestamp(request.leaseUntil)}
      WHERE flow_id = ${flowId} AND outcome IS NULL AND (request_hash IS NULL
        OR lease_until IS NULL OR lease_until <= ${timestamp(request.now)})
      RETURNING 1`
    if (claimed.length > 0) return { _tag: "Claimed" } satisfies FlowClaim
    const found = yield* firstClaim(sql`
      SELECT request_hash IS NOT DISTINCT FROM ${requestHash} AS "isSameBody", outcome FROM enrollment_flows
      WHERE flow_id = ${flowId}`)
    if (Option.isNone(found)) return yield* missingFlow(flowId)
    const { isSameBody, outcome } = found.value
    if (!isSameBody) return { _tag: "Mismatch" } satisfies FlowClaim
    return (outcome === null ? { _tag: "InProgress" } : { _tag: "Replayed", outcome }) satisfies FlowClaim
  }, Effect.orDie)

  const release = Effect.fn("EnrollmentStore.release")(function* ({ flowId, leaseUntil, requestHash }: ClaimRequest) {
    // The end of the lease identifies its holder: a late release must not disturb a later one.
    yield* sql`
      UPDATE enrollment_flows SET request_hash = NULL, lease_until = NULL
      WHERE flow_id = ${flowId} AND outcome IS NULL AND request_hash = ${requestHash}
      AND lease_until = ${timestamp(leaseUntil)}`
  }, Effect.orDie)

  const writeOutcome = (flowId: FlowId, outcome: EnrollmentOutcome) =>
    sql`
      UPDATE enrollment_flows SET outcome = ${storableJson(encodeOutcome(outcome))}::jsonb, lease_until = NULL
      WHERE flow_id = ${flowId} AND outcome IS NULL RETURNING 1`

  const storeOutcome = Effect.fn("EnrollmentStore.storeOutcome")(function* (
    flowId: FlowId,
    outcome: EnrollmentOutcome
  ) {
    yield* writeOutcome(flowId, outcome)
  }, Effect.orDie)

  /** Holds the owner's index until the transaction ends: enrollments of one owner pass here one after the other. */
  const lockIndex = Effect.fnUntraced(function* (owner: WalletId) {
    yield* sql`INSERT INTO owner_indexes (owner_account_id, next_index) VALUES (${owner}, 0) ON CONFLICT DO NOTHING`
    const row = yield* firstIndex(sql`
      SELECT next_index AS "nextIndex" FROM owner_indexes WHERE owner_account_id = ${owner} FOR UPDATE`)
    return Option.getOrThrow(row).nextIndex
  })

  const commitInTransaction = Effect.fnUntraced(function* (portfolio: NewPortfolio, outcome: EnrollmentOutcome) {
    const { authorization, flowId, strategyId, tenantId } = portfolio.flow
    const nextIndex = yield* lockIndex(authorization.ownerAccountId)
    const existing = yield* sql`
      SELECT 1 FROM portfolios
      WHERE tenant_id = ${tenantId} AND strategy_id = ${strategyId}
      AND owner_account_id = ${authorization.ownerAccountId}
        AND archived_at IS NULL`
    if (existing.length > 0) return yield* refuse({ _tag: "PortfolioExists" })
    // On Solana the role decides the address, and the chain gives each role once.
    if (authorization._tag === "Evm") {
      if (nextIndex !== authorization.accountIndex) return yield* refuse({ _tag: "IndexTaken" })
      yield* sql`UPDATE owner_indexes SET next_index = next_index + 1
        WHERE owner_account_id = ${authorization.ownerAccountId}`
    }
    yield* insertPortfolio(sql, portfolio, storableJson(encodeAuthorization(authorization)))
    const stored = yield* writeOutcome(flowId, outcome)
    return stored.length > 0 ? ({ _tag: "Committed" } satisfies CommitResult) : yield* missingFlow(flowId)
  }, sql.withTransaction)

  const commit = Effect.fn("EnrollmentStore.commit")((portfolio: NewPortfolio, outcome: EnrollmentOutcome) =>
    commitInTransaction(portfolio, outcome).pipe(
      // The refusals are failures inside, so that the transaction rolls back.
      Effect.catchTag(["PortfolioExists", "IndexTaken", "ExternalIdUsed", "TooManyKeys"], Effect.succeed),
      Effect.orDie
    )
  )

  const activateInTransaction = Effect.fnUntraced(function* (grant: NewGrant) {
    const portfolio = yield* insertGrant(sql, grant, storableJson(encodeAuthorization(grant.flow.authorization)))
    const outcome: Activated = { _tag: "Activated", portfolio }
    const stored = yield* writeOutcome(grant.flow.flowId, outcome)
    return stored.length > 0 ? outcome : yield* missingFlow(grant.flow.flowId)
  }, sql.withTransaction)

  const activate = Effect.fn("EnrollmentStore.activate")((grant: NewGrant) =>
    activateInTransaction(grant).pipe(
      Effect.catchTag(["PortfolioGone", "ChainActive", "Revoked"], Effect.succeed),
      Effect.orDie
    )
  )

  const pruneFlows = Effect.fn("EnrollmentStore.pruneFlows")(function* (expiredBefore: DateTime.Utc, limit: number) {
    const removed = yield* sql`
      DELETE FROM enrollment_flows WHERE flow_id IN (
        SELECT flow_id FROM enrollment_flows WHERE expires_at < ${timestamp(expiredBefore)}
        ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED) RETURNING 1`
    return removed.length
  }, Effect.orDie)

  return EnrollmentStore.of({
    pruneFlows,
    candidateIndex,
    findEnrolled,
    findPortfolio,
    insertFlow,
    findFlow,
    claim,
    release,
    commit,
    activate,
    storeOutcome
  })
})

export const layer = Layer.effect(EnrollmentStore, make)
