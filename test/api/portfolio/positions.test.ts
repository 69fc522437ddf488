import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { enrolledUser } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, isoTime, usd6 } from "#test/api/support/assertions.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const fields = ["portfolioId", "totalValueUsd", "inTransit", "fetchedAt", "smartAccounts", "assets", "warnings"]

layer(ApiLive, { excludeTestServices: true })("positions", (it) => {
  it.effect("shows the native coin at the price of the token that wraps it, and counts it", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const { key, portfolioId, smartAccounts } = yield* enrolledUser()
      const account = smartAccounts.find((id) => id.startsWith("eip155:8453:"))!
      const coin = "eip155:8453/slip44:60"
      environment.balances = new Map([
        [`${account} ${baseUsdc.assetId}`, 1_500_500_000n],
        [`${account} ${coin}`, 500_000_000_000_000_001n]
      ])
      environment.prices = new Map([
        [baseUsdc.assetId, Decimal.one],
        [baseWeth.assetId, 2_500n * Decimal.one]
      ])
      const { data } = (yield* call("GET", `/v2/portfolios/${portfolioId}/positions`, { key })).json
      assert.strictEqual(data.totalValueUsd, "2750.500000")
      const { priceAsOf, ...row } = data.assets[1]
      assert.match(priceAsOf, isoTime)
      assert.deepStrictEqual(row, {
        assetId: coin,
        smartAccountId: account,
        symbol: "ETH",
        decimals: 18,
        balance: "0.500000000000000001",
        balanceRaw: "500000000000000001",
        priceUsd: "2500.000000",
        valueUsd: "1250.000000"
      })
      assert.deepStrictEqual(data.warnings, [])

      environment.prices = new Map([[baseUsdc.assetId, Decimal.one]])
      const other = yield* enrolledUser()
      const there = other.smartAccounts.find((id) => id.startsWith("eip155:8453:"))!
      environment.balances = new Map([[`${there} ${coin}`, 1n]])
      const unpriced = (yield* call("GET", `/v2/portfolios/${other.portfolioId}/positions`, { key: other.key })).json
      assert.strictEqual(unpriced.data.totalValueUsd, "0.000000")
      assert.deepStrictEqual(unpriced.data.warnings, [
        { kind: "MISSING_PRICE", message: `${coin} has no price; the total leaves it out` }
      ])
    })
  )

  it.effect("shows balances in the interface's formats, most valuable first", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const { key, portfolioId, smartAccounts } = yield* enrolledUser()
      const account = smartAccounts.find((id) => id.startsWith("eip155:8453:"))!
      environment.balances = new Map([
        [`${account} ${baseUsdc.assetId}`, 1_500_500_000n],
        [`${account} ${baseWeth.assetId}`, 2_000_000_000_000_000_001n]
      ])
      environment.prices = new Map([
        [baseUsdc.assetId, Decimal.one],
        [baseWeth.assetId, Decimal.parse("2500.1234567")!]
      ])
      const answer = yield* call("GET", `/v2/portfolios/${portfolioId}/positions`, { key })
      assertData(answer, 200, fields)
      const { data } = answer.json
      assert.strictEqual(data.totalValueUsd, "6500.746913")
      assert.deepStrictEqual(data.inTransit, { totalUsd: "0.000000", items: [] })
      assert.match(data.fetchedAt, isoTime)
      assert.deepStrictEqual(
        data.smartAccounts,
        smartAccounts.map((accountId) => ({ accountId }))
      )
      assert.deepStrictEqual(data.warnings, [])
      const priceAsOf = data.assets[0].priceAsOf
      assert.match(priceAsOf, isoTime)
      assert.deepStrictEqual(data.assets, [
        {
          assetId: baseWeth.assetId,
          smartAccountId: account,
          symbol: "WETH",
          decimals: 18,
          balance: "2.000000000000000001",
          balanceRaw: "2000000000000000001",
          priceUsd: "2500.123456",
          priceAsOf,
          valueUsd: "5000.246913"
        },
        {
          assetId: baseUsdc.assetId,
          smartAccountId: account,
          symbol: "USDC",
          decimals: 6,
          balance: "1500.5",
          balanceRaw: "1500500000",
          priceUsd: "1.000000",
          priceAsOf,
          valueUsd: "1500.500000"
        }
      ])
    })
  )

  it.effect("a row without a price is zero dollars and named in a warning", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const { key, portfolioId, smartAccounts } = yield* enrolledUser()
      const account = smartAccounts.find((id) => id.startsWith("eip155:8453:"))!
      environment.balances = new Map([[`${account} ${baseUsdc.assetId}`, 1n]])
      environment.prices = new Map()
      const { json } = yield* call("GET", `/v2/portfolios/${portfolioId}/positions`, { key })
      assert.strictEqual(json.data.assets[0].priceUsd, "0.000000")
      assert.isNull(json.data.assets[0].priceAsOf)
      assert.strictEqual(json.data.assets[0].valueUsd, "0.000000")
      assert.strictEqual(json.data.assets[0].balance, "0.000001")
      assert.deepStrictEqual(Object.keys(json.data.warnings[0]), ["kind", "message"])
      assert.strictEqual(json.data.warnings[0].kind, "MISSING_PRICE")
    })
  )

  it.effect("an empty portfolio is worth zero in six decimals", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      ;(yield* TestEnvironment).balances = new Map()
      const { key, portfolioId } = yield* enrolledUser()
      const { json } = yield* call("GET", `/v2/portfolios/${portfolioId}/positions`, { key })
      assert.match(json.data.totalValueUsd, usd6)
      assert.strictEqual(json.data.totalValueUsd, "0.000000")
      assert.deepStrictEqual(json.data.warnings, [])
    })
  )

  it.effect("when nothing can be read it is 200, exactly 0, and says so", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const { key, portfolioId } = yield* enrolledUser()
      environment.chainsDown = true
      const answer = yield* call("GET", `/v2/portfolios/${portfolioId}/positions`, { key })
      environment.chainsDown = false
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.json.data.totalValueUsd, "0")
      assert.deepStrictEqual(answer.json.data.assets, [])
      assert.deepStrictEqual(
        answer.json.data.warnings.map(({ kind }: { kind: string }) => kind),
        ["RPC_ERROR", "RPC_ERROR"]
      )
    })
  )
})
