import { assert } from "@effect/vitest"
import { DateTime, Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { evmWallet } from "#domain/values/Caip.ts"
import { type ClaimRequest, EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { makeFlowId, type FlowId } from "#domain/values/Ids.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import {
  after,
  insertFlow,
  insertPortfolio,
  insertStrategy,
  insertTenant,
  newAddress,
  newPortfolio,
  noon,
  outcomeOf
} from "#test/layers/sql/fixtures.ts"

const body = new Uint8Array(32).fill(1)
const otherBody = new Uint8Array(32).fill(2)

const request = (flowId: FlowId, changes: Partial<ClaimRequest> = {}): ClaimRequest => ({
  flowId,
  requestHash: body,
  now: noon,
  leaseUntil: after(30_000),
  ...changes
})

const refusal = {
  _tag: "Refused" as const,
  error: "ValidationFailed" as const,
  message: "The signature is not the owner's",
  details: ["signature: wrong signer"]
}

const newFlow = Effect.gen(function* () {
  const strategy = yield* insertStrategy(yield* insertTenant)
  return yield* insertFlow(strategy, newAddress())
})

eachDatabase("EnrollmentStore", (it) => {
  it.effect("keeps a flow whole, for its tenant only", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const strategy = yield* insertStrategy(yield* insertTenant)
      const flow = yield* insertFlow(strategy, newAddress(), 2n ** 200n)
      assert.deepStrictEqual(yield* store.findFlow(flow.tenantId, flow.flowId), Option.some(flow))
      assert.isTrue(Option.isNone(yield* store.findFlow(yield* insertTenant, flow.flowId)))
    })
  )

  it.effect("claims once, refuses another body, and replays what was settled", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const { flowId } = yield* newFlow
      assert.deepStrictEqual(yield* store.claim(request(flowId)), { _tag: "Claimed" })
      assert.deepStrictEqual(yield* store.claim(request(flowId)), { _tag: "InProgress" })
      assert.deepStrictEqual(yield* store.claim(request(flowId, { requestHash: otherBody })), { _tag: "Mismatch" })
      yield* store.storeOutcome(flowId, refusal)
      assert.deepStrictEqual(yield* store.claim(request(flowId)), { _tag: "Replayed", outcome: refusal })
      assert.deepStrictEqual(yield* store.claim(request(flowId, { requestHash: otherBody })), { _tag: "Mismatch" })
      yield* store.storeOutcome(flowId, { ...refusal, message: "later" })
      assert.deepStrictEqual(yield* store.claim(request(flowId)), { _tag: "Replayed", outcome: refusal })
    })
  )

  it.effect("lets any body take over a lease that ran out, and a flow that was given up", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const { flowId } = yield* newFlow
      yield* store.claim(request(flowId))
      assert.strictEqual((yield* store.claim(request(flowId, { now: after(29_999) })))._tag, "InProgress")
      const other = { requestHash: otherBody, leaseUntil: after(40_000) }
      assert.strictEqual((yield* store.claim(request(flowId, { ...other, now: after(29_999) })))._tag, "Mismatch")
      assert.strictEqual((yield* store.claim(request(flowId, { ...other, now: after(30_000) })))._tag, "Claimed")
      assert.strictEqual((yield* store.claim(request(flowId, { now: after(39_999) })))._tag, "Mismatch")
      assert.strictEqual(
        (yield* store.claim(request(flowId, { now: after(40_000), leaseUntil: after(60_000) })))._tag,
        "Claimed"
      )
      yield* store.release(request(flowId, { leaseUntil: after(1) }))
      assert.strictEqual(
        (yield* store.claim(request(flowId)))._tag,
        "InProgress",
        "a release of another lease changes nothing"
      )
      yield* store.release(request(flowId, { leaseUntil: after(60_000) }))
      assert.strictEqual((yield* store.claim(request(flowId, { requestHash: otherBody })))._tag, "Claimed")
      assert.strictEqual((yield* store.claim(request(flowId)))._tag, "Mismatch")
    })
  )

  it.effect("gives one of many concurrent claims the flow", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const { flowId } = yield* newFlow
      const claims = yield* Effect.replicateEffect(store.claim(request(flowId)), 10, { concurrency: "unbounded" })
      assert.deepStrictEqual(claims.map((claim) => claim._tag).sort(), [
        "Claimed",
        ...Array.from({ length: 9 }, () => "InProgress")
      ])
    })
  )

  it.effect("dies on a claim of an unknown flow", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.claim(request(yield* makeFlowId)))))
    })
  )

  it.effect("commits portfolio, accounts, schedule, index and outcome together", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* EnrollmentStore
      const flow = yield* newFlow
      const owner = flow.authorization.ownerAccountId
      yield* (yield* StrategyStore).publish({
        strategyId: flow.strategyId,
        allocation: [],
        changeLog: null,
        createdAt: noon
      })
      assert.strictEqual(yield* store.candidateIndex(owner), 0n)
      yield* store.claim(request(flow.flowId))
      const portfolio = yield* newPortfolio(flow)
      assert.strictEqual((yield* store.commit(portfolio, outcomeOf(portfolio)))._tag, "Committed")
      assert.strictEqual(yield* store.candidateIndex(owner), 1n)
      assert.deepStrictEqual(yield* store.claim(request(flow.flowId)), {
        _tag: "Replayed",
        outcome: outcomeOf(portfolio)
      })
      const found = Option.getOrThrow(yield* (yield* PortfolioStore).find(flow.tenantId, portfolio.portfolioId))
      assert.strictEqual(found.strategyVersion, 2)
      const accounts = yield* sql<{ account_id: string }>`
        SELECT account_id FROM smart_accounts WHERE portfolio_id = ${portfolio.portfolioId} ORDER BY account_id DESC`
      assert.deepStrictEqual(
        accounts.map((row) => row.account_id),
        [...found.smartAccounts]
      )
    })
  )

  it.effect("says PortfolioExists for a second portfolio in the strategy, and writes nothing", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const strategy = yield* insertStrategy(yield* insertTenant)
      const owner = newAddress()
      const first = yield* newPortfolio(yield* insertFlow(strategy, owner, 0n))
      const second = yield* newPortfolio(yield* insertFlow(strategy, owner, 1n))
      assert.strictEqual((yield* store.commit(first, outcomeOf(first)))._tag, "Committed")
      assert.strictEqual((yield* store.commit(second, outcomeOf(second)))._tag, "PortfolioExists")
      assert.strictEqual(yield* store.candidateIndex(evmWallet(owner)), 1n)
      assert.isTrue(Option.isNone(yield* (yield* PortfolioStore).find(strategy.tenantId, second.portfolioId)))
      assert.strictEqual((yield* store.claim(request(second.flow.flowId)))._tag, "Claimed")
    })
  )

  it.effect("says IndexTaken when another enrollment used the index, and writes nothing", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const tenantId = yield* insertTenant
      const owner = newAddress()
      const first = yield* newPortfolio(yield* insertFlow(yield* insertStrategy(tenantId), owner, 0n))
      const second = yield* newPortfolio(yield* insertFlow(yield* insertStrategy(yield* insertTenant), owner, 0n))
      const ahead = yield* newPortfolio(yield* insertFlow(yield* insertStrategy(tenantId), owner, 7n))
      assert.strictEqual((yield* store.commit(ahead, outcomeOf(ahead)))._tag, "IndexTaken")
      assert.strictEqual((yield* store.commit(first, outcomeOf(first)))._tag, "Committed")
      assert.strictEqual((yield* store.commit(second, outcomeOf(second)))._tag, "IndexTaken")
      assert.strictEqual(yield* store.candidateIndex(evmWallet(owner)), 1n)
    })
  )

  it.effect("commits one of the enrollments that race for an index", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const tenantId = yield* insertTenant
      const owner = newAddress()
      const portfolios = yield* Effect.forEach(Array.from({ length: 8 }), () =>
        Effect.gen(function* () {
          return yield* newPortfolio(yield* insertFlow(yield* insertStrategy(tenantId), owner, 0n))
        })
      )
      const results = yield* Effect.forEach(portfolios, (each) => store.commit(each, outcomeOf(each)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual<ReadonlyArray<unknown>>(results.map(({ _tag }) => _tag).sort(), [
        "Committed",
        ...Array.from({ length: 7 }, () => "IndexTaken")
      ])
      assert.strictEqual(yield* store.candidateIndex(evmWallet(owner)), 1n)
    })
  )

  it.effect("makes no portfolio for a flow that was refused meanwhile", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const flow = yield* newFlow
      yield* store.claim(request(flow.flowId))
      yield* store.storeOutcome(flow.flowId, refusal)
      const portfolio = yield* newPortfolio(flow)
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.commit(portfolio, outcomeOf(portfolio)))))
      assert.isTrue(Option.isNone(yield* (yield* PortfolioStore).find(flow.tenantId, portfolio.portfolioId)))
    })
  )

  it.effect("enrolls an owner anew after the portfolio was archived", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const strategy = yield* insertStrategy(yield* insertTenant)
      const first = yield* insertPortfolio(strategy)
      yield* sql`UPDATE portfolios SET archived_at = updated_at WHERE portfolio_id = ${first.portfolioId}`
      const flow = yield* newFlow
      const again = yield* newPortfolio({
        ...flow,
        tenantId: strategy.tenantId,
        strategyId: strategy.strategyId,
        authorization: {
          ...flow.authorization,
          ownerAccountId: first.flow.authorization.ownerAccountId,
          accountIndex: 1n
        }
      })
      assert.strictEqual((yield* (yield* EnrollmentStore).commit(again, outcomeOf(again)))._tag, "Committed")
    })
  )

  it.effect("removes flows that have expired, in bounded pieces, and no others", () =>
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const flows = [yield* newFlow, yield* newFlow]
      const found = Effect.forEach(flows, ({ flowId, tenantId }) =>
        Effect.map(store.findFlow(tenantId, flowId), Option.isSome)
      )
      const { expiresAt } = flows[0]!
      yield* store.pruneFlows(expiresAt, 1_000)
      assert.deepStrictEqual(yield* found, [true, true], "not yet")
      const later = DateTime.add(expiresAt, { milliseconds: 1 })
      assert.strictEqual(yield* store.pruneFlows(later, 1), 1)
      yield* store.pruneFlows(later, 1_000)
      assert.deepStrictEqual(yield* found, [false, false])
      assert.strictEqual(yield* store.pruneFlows(later, 1_000), 0)
    })
  )
})
