/** A strategy is deleted while users are enrolled: it is gone and they are not in it, or it is archived. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { makeFlowId } from "#domain/values/Ids.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import {
  after,
  insertFlow,
  insertStrategy,
  insertTenant,
  newAddress,
  newAuthorization,
  newPortfolio,
  noon,
  outcomeOf
} from "#test/layers/sql/fixtures.ts"

const rounds = Array.from({ length: 20 }, (_, round) => round)

eachDatabase("StrategyStore.remove beside enrollments", (it) => {
  it.effect("an enrollment that begins meanwhile finds it gone, or keeps it as archived", () =>
    Effect.gen(function* () {
      const enrollments = yield* EnrollmentStore
      const strategies = yield* StrategyStore
      const tenantId = yield* insertTenant
      for (const round of rounds) {
        const own = yield* insertStrategy(tenantId)
        const begin = Effect.gen(function* () {
          return yield* enrollments.insertFlow({
            flowId: yield* makeFlowId,
            tenantId,
            purpose: { _tag: "Enroll" },
            strategyId: own.strategyId,
            authorization: newAuthorization(newAddress(), 0n),
            createdAt: noon,
            expiresAt: after(86_400_000)
          })
        })
        // Each of both comes first in half of the rounds.
        const both = [Effect.asSome(begin), Effect.as(strategies.remove(own, noon), Option.none<boolean>())]
        const [begun] = (yield* Effect.all(round % 2 === 0 ? both : both.toReversed(), {
          concurrency: "unbounded"
        })).flatMap(Option.toArray)
        const kept = yield* strategies.find(own.strategyId)
        assert.strictEqual(Option.isSome(kept), begun, "kept when somebody began, and gone otherwise")
        if (Option.isSome(kept)) assert.isDefined(kept.value.archivedAt)
      }
    })
  )

  it.effect("an enrollment that ends meanwhile makes its portfolio, which the archived strategy steers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const enrollments = yield* EnrollmentStore
      const strategies = yield* StrategyStore
      const tenantId = yield* insertTenant
      for (const _ of rounds) {
        const own = yield* insertStrategy(tenantId)
        const flow = yield* insertFlow(own, newAddress())
        const portfolio = yield* newPortfolio(flow)
        const claim = {
          flowId: flow.flowId,
          requestHash: new Uint8Array(32),
          now: noon,
          leaseUntil: DateTime.add(noon, { seconds: 30 })
        }
        yield* enrollments.claim(claim)
        const [committed, removal] = yield* Effect.all(
          [enrollments.commit(portfolio, outcomeOf(portfolio)), strategies.remove(own, noon)],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(committed, { _tag: "Committed" })
        assert.deepStrictEqual(removal, Option.some("Archived"))
        const followed = yield* sql`
          SELECT 1 FROM portfolios p JOIN strategy_versions v ON v.strategy_id = p.strategy_id
            AND v.version = p.strategy_version WHERE p.portfolio_id = ${portfolio.portfolioId}`
        assert.lengthOf(followed, 1)
      }
    })
  )
})
