import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PlanChanged, PortfolioNotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { enrolledUser, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const swap = (sellAmountRaw: bigint) => ({
  sell: baseUsdc.assetId,
  buy: baseWeth.assetId,
  sellAmountRaw,
  minBuyAmountRaw: 398n,
  expectedBuyRaw: 400n,
  execution: assumedExecution({ sell: baseUsdc.assetId, buy: baseWeth.assetId })
})

/** A user whose portfolio would sell an amount of dollars. */
const previewed = Effect.fnUntraced(function* (sellAmountRaw = 1_000_000n) {
  const { call } = yield* Api
  const user = yield* enrolledUser()
  const environment = yield* TestEnvironment
  const gas = { limit: 300_000n, costUsd: 12_000_000_000_000_000n }
  environment.plannedNow = { outcome: "trades", swaps: [swap(sellAmountRaw)], gas }
  const path = `/v2/portfolios/${user.portfolioId}/rebalance`
  const answer = yield* call("POST", `${path}/preview`, { key: user.key })
  return { ...user, answer, environment, path, planHash: answer.json.data.planHash as string }
})

layer(ApiLive, { excludeTestServices: true })("previews", (it) => {
  it.effect("answer the plan with minimums, gas and skips, and until when its hash counts", () =>
    Effect.gen(function* () {
      const { answer, portfolioId } = yield* previewed()
      assertData(answer, 200, ["portfolioId", "planHash", "strategyVersion", "plannedAt", "expiresAt", "chains"])
      const { chains, expiresAt, plannedAt, ...rest } = answer.json.data
      assert.strictEqual(rest.portfolioId, portfolioId)
      assert.match(plannedAt, isoTime)
      assert.strictEqual(Date.parse(expiresAt) - Date.parse(plannedAt), 600_000)
      assert.deepStrictEqual(chains[0], {
        chainId: 8453,
        outcome: "trades",
        swaps: [
          {
            sell: baseUsdc.assetId,
            buy: baseWeth.assetId,
            sellAmountRaw: "1000000",
            expectedBuyRaw: "400",
            minBuyAmountRaw: "398",
            tool: null
          }
        ],
        transfers: [],
        skips: [],
        reason: null,
        gasLimit: "300000",
        gasUsd: "0.012000"
      })
    })
  )

  it.effect("are agreed to by their hash", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, path, planHash } = yield* previewed()
      assertData(yield* call("POST", path, { key, body: { planHash } }), 202, ["operationId", "submittedAt"])
    })
  )

  it.effect("that do not hold any more are a 409 with what differs, and no run", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { environment, key, path, planHash } = yield* previewed()
      environment.plannedNow = { outcome: "trades", swaps: [swap(2_000_000n)] }
      const refused = yield* call("POST", path, { key, body: { planHash } })
      assertError(refused, PlanChanged)
      assert.match(refused.json.error.details[0], /would sell 2000000, and 1000000 in the preview$/)
      const fresh = yield* call("POST", path, { key })
      assert.strictEqual(fresh.status, 202, "neither a run nor its cooldown was begun")
    })
  )

  it.effect("count for ten minutes, for their portfolio alone", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const first = yield* previewed()
      const other = yield* previewed(3_000_000n)
      assertError(yield* call("POST", first.path, { key: first.key, body: { planHash: other.planHash } }), PlanChanged)
      ;(yield* MovableClock).advance(600_000)
      assertError(yield* call("POST", first.path, { key: first.key, body: { planHash: first.planHash } }), PlanChanged)
    })
  )

  it.effect("of other tenants' portfolios are not there, and bad hashes are a 400 that names the field", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, path, planHash } = yield* previewed()
      const stranger = yield* newTenant()
      assertError(yield* call("POST", `${path}/preview`, { key: stranger.key }), PortfolioNotFound)
      assertError(yield* call("POST", path, { key: stranger.key, body: { planHash } }), PortfolioNotFound)
      for (const body of [{ planHash: "no" }, { planHash: 1 }, { plan: planHash }]) {
        assertError(yield* call("POST", path, { key, body }), ValidationFailed)
      }
    })
  )
})
