/** Further grants of a portfolio: all of one or nothing, once each, whatever races. */
import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type ChainId, evmAccount } from "#domain/values/Caip.ts"
import type { EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import { EnrollmentStore, type NewGrant, type NewPortfolio } from "#domain/enrollment/EnrollmentStore.ts"
import { grantOn } from "#domain/account/Grant.ts"
import * as Ids from "#domain/values/Ids.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, arbitrum, base, insertTenant, noon, submit, world } from "#test/layers/sql/fixtures.ts"
import { addressOf } from "#layers/evm/address.ts"

const ethereum = 1 as ChainId
const bnb = 56 as ChainId

/** A flow by which the portfolio's owner adds chains, and the grant that it ends in. */
const activation = Effect.fnUntraced(function* (portfolio: NewPortfolio, ...chainIds: ReadonlyArray<ChainId>) {
  const { authorization: enrolled } = portfolio.flow
  const account = addressOf(enrolled.chains[0].accountId)
  const [first, ...others] = chainIds.map((chainId) => ({
    ...enrolled.chains[0],
    chainId,
    accountId: evmAccount(chainId, account),
    permissionId: PermissionId.make("0x0a0b0c0d")
  }))
  const flow: EnrollmentFlow = {
    ...portfolio.flow,
    flowId: yield* Ids.makeFlowId,
    purpose: { _tag: "Activate", portfolioId: portfolio.portfolioId },
    authorization: { ...enrolled, chains: [first!, ...others] }
  }
  yield* (yield* EnrollmentStore).insertFlow(flow)
  return {
    portfolioId: portfolio.portfolioId,
    flow,
    ownerSignature: "0xbeef",
    grantedAt: after(60_000)
  } satisfies NewGrant
})

const found = Effect.fnUntraced(function* ({ flow, portfolioId }: NewPortfolio) {
  return Option.getOrThrow(yield* (yield* PortfolioStore).find(flow.tenantId, portfolioId))
})

const request = (flowId: Ids.FlowId) => ({
  flowId,
  requestHash: new Uint8Array(32).fill(3),
  now: noon,
  leaseUntil: after(30_000)
})

eachDatabase("EnrollmentStore.activate", (it) => {
  it.effect("keeps what a flow is for", () =>
    Effect.gen(function* () {
      const { portfolio } = yield* world()
      const { flow } = yield* activation(portfolio, ethereum)
      const store = yield* EnrollmentStore
      assert.deepStrictEqual(yield* store.findFlow(flow.tenantId, flow.flowId), Option.some(flow))
    })
  )

  it.effect("adds grant, accounts and outcome together", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* EnrollmentStore
      const { portfolio, tenantId, portfolioId } = yield* world()
      const before = yield* found(portfolio)
      const grant = yield* activation(portfolio, ethereum, bnb)
      yield* store.claim(request(grant.flow.flowId))
      const outcome = yield* store.activate(grant)
      const accounts = grant.flow.authorization.chains.map(({ accountId }) => accountId)
      const portfolioNow = yield* found(portfolio)
      assert.deepStrictEqual(portfolioNow, {
        ...before,
        smartAccounts: [...before.smartAccounts, ...accounts],
        updatedAt: grant.grantedAt
      })
      if (outcome._tag !== "Activated") return assert.fail(outcome._tag)
      assert.deepStrictEqual({ ...portfolioNow, ...outcome.portfolio }, portfolioNow)
      assert.sameMembers([...outcome.portfolio.smartAccounts], [...portfolioNow.smartAccounts])
      assert.deepStrictEqual(yield* store.claim(request(grant.flow.flowId)), { _tag: "Replayed", outcome })
      const { grants } = Option.getOrThrow(yield* store.findEnrolled(tenantId, portfolioId))
      assert.deepStrictEqual(grants, [
        { authorization: portfolio.flow.authorization, ownerSignature: portfolio.ownerSignature },
        { authorization: grant.flow.authorization, ownerSignature: "0xbeef" }
      ])
      const rows = yield* sql<{ sequence: number }>`
        SELECT sequence FROM grants WHERE portfolio_id = ${portfolioId} ORDER BY sequence`
      assert.deepStrictEqual(
        rows.map(({ sequence }) => sequence),
        [1, 2]
      )
      const kept = yield* sql<{ account_id: string }>`
        SELECT account_id FROM smart_accounts WHERE portfolio_id = ${portfolioId}`
      assert.sameMembers(
        kept.map((row) => row.account_id),
        [...portfolioNow.smartAccounts]
      )
      assert.strictEqual(yield* store.candidateIndex(portfolio.flow.authorization.ownerAccountId), 1n)
    })
  )

  it.effect("the next run acts on every chain by its own grant", () =>
    Effect.gen(function* () {
      const { portfolio, tenantId, portfolioId } = yield* world()
      const grant = yield* activation(portfolio, ethereum)
      yield* (yield* EnrollmentStore).activate(grant)
      const { operationId } = yield* submit(tenantId, portfolioId)
      const { grants } = Option.getOrThrow(yield* (yield* RunStore).context(operationId))
      for (const chainId of [base, arbitrum]) {
        assert.deepStrictEqual(grantOn(grants, chainId)?.authorization, portfolio.flow.authorization)
      }
      assert.deepStrictEqual(grantOn(grants, ethereum)?.authorization, grant.flow.authorization)
      assert.isUndefined(grantOn(grants, bnb))
    })
  )

  it.effect("says ChainActive when one of the chains is there, and writes nothing", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const { portfolio } = yield* world()
      const before = yield* found(portfolio)
      const grant = yield* activation(portfolio, ethereum, base)
      assert.strictEqual((yield* store.activate(grant))._tag, "ChainActive")
      assert.deepStrictEqual(yield* found(portfolio), before)
      assert.strictEqual((yield* store.claim(request(grant.flow.flowId)))._tag, "Claimed")
    })
  )

  it.effect("adds a chain once when activations race", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const { portfolio, portfolioId, tenantId } = yield* world()
      const racing = yield* Effect.forEach(Array.from({ length: 8 }), () => activation(portfolio, ethereum))
      const other = yield* activation(portfolio, bnb)
      const results = yield* Effect.forEach([...racing, other], (grant) => store.activate(grant), {
        concurrency: "unbounded"
      })
      const activated = results.filter(({ _tag }) => _tag === "Activated")
      assert.strictEqual(activated.length, 2)
      assert.strictEqual((yield* found(portfolio)).smartAccounts.length, 4)
      const { grants } = Option.getOrThrow(yield* store.findEnrolled(tenantId, portfolioId))
      assert.strictEqual(grants.length, 3)
    })
  )

  it.effect("finds no archived portfolio and none of another tenant", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* EnrollmentStore
      const { portfolio, portfolioId, tenantId } = yield* world()
      const stranger = yield* insertTenant
      const grant = yield* activation(portfolio, ethereum)
      assert.isTrue(Option.isNone(yield* store.findEnrolled(stranger, portfolioId)))
      assert.strictEqual(
        (yield* store.activate({ ...grant, flow: { ...grant.flow, tenantId: stranger } }))._tag,
        "PortfolioGone"
      )
      yield* sql`UPDATE portfolios SET archived_at = updated_at WHERE portfolio_id = ${portfolioId}`
      assert.isTrue(Option.isNone(yield* store.findEnrolled(tenantId, portfolioId)))
      assert.strictEqual((yield* store.activate(grant))._tag, "PortfolioGone")
    })
  )

  it.effect("adds nothing for a flow that was refused meanwhile", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const { portfolio } = yield* world()
      const before = yield* found(portfolio)
      const grant = yield* activation(portfolio, ethereum)
      yield* store.storeOutcome(grant.flow.flowId, {
        _tag: "Refused",
        error: "ValidationFailed",
        message: "The signature is not the owner's",
        details: []
      })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.activate(grant))))
      assert.deepStrictEqual(yield* found(portfolio), before)
    })
  )
})
