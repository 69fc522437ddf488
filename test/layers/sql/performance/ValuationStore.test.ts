import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import type { PortfolioValuation } from "#domain/performance/Valuation.ts"
import { ValuationStore } from "#domain/performance/ValuationStore.ts"
import { after, insertPortfolio, noon, submit, usdc, weth, world } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"
import { relayed } from "#test/support/chains/relayed.ts"

const hour = 3_600_000
const today = Day.of(noon)
const query = { after: null, limit: 10, now: noon, claimedBefore: after(-hour) }

/** No portfolio is live but those that a test makes after this. */
const archiveAll = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.andThen(
    sql`UPDATE portfolios SET archived_at = ${DateTime.toDateUtc(noon)}`,
    sql`DELETE FROM portfolio_snapshots`
  )
)

const oneWorld = Effect.gen(function* () {
  yield* archiveAll
  const made = yield* world()
  const [accountId] = made.portfolio.flow.authorization.chains.map((chain) => chain.accountId)
  return { ...made, accountId: accountId!, store: yield* ValuationStore }
})

const valued = (
  portfolioId: PortfolioId,
  accountId: AccountId,
  changes: Partial<PortfolioValuation> = {}
): PortfolioValuation => ({
  portfolioId,
  valueUsd: 100n * Decimal.one,
  cashFlowUsd: 100n * Decimal.one,
  growth: null,
  isRebased: false,
  accounts: [
    {
      accountId,
      blockNumber: 2n ** 70n,
      holdings: [{ assetId: usdc, raw: 10n ** 60n, priceUsd: Decimal.one + 1n, decimals: 6 }]
    }
  ],
  ...changes
})

eachDatabase("ValuationStore", (it) => {
  it.effect("walks over all live portfolios in pages, those claimed lately left out", () =>
    Effect.gen(function* () {
      const { portfolioId, store, strategy } = yield* oneWorld
      const others = yield* Effect.all([insertPortfolio(strategy), insertPortfolio(strategy)])
      const ids = [portfolioId, ...others.map((other) => other.portfolioId)].sort()
      const first = yield* store.claim({ ...query, limit: 2 })
      assert.deepStrictEqual(
        first.claimed.map((claimed) => claimed.portfolioId),
        ids.slice(0, 2)
      )
      assert.strictEqual(first.last, ids[1])
      assert.strictEqual(first.claimed[0]!.before.size, 0)
      const again = yield* store.claim({ ...query, limit: 2, now: after(1) })
      assert.deepStrictEqual(again, { claimed: [], last: ids[1]! })
      const second = yield* store.claim({ ...query, after: first.last, limit: 2 })
      assert.deepStrictEqual([second.claimed.map((claimed) => claimed.portfolioId), second.last], [[ids[2]], null])
      const later = yield* store.claim({ ...query, now: after(hour), claimedBefore: noon })
      assert.lengthOf(later.claimed, 3)
      assert.deepStrictEqual(
        later.claimed.find((claimed) => claimed.portfolioId === portfolioId)!.accountIds,
        (yield* SqlClient.SqlClient.pipe(
          Effect.flatMap(
            (sql) => sql<{ account_ids: AccountId[] }>`
            SELECT account_ids FROM portfolios WHERE portfolio_id = ${portfolioId}`
          )
        ))[0]!.account_ids
      )
    })
  )

  it.effect("of many claims at once each portfolio goes to one", () =>
    Effect.gen(function* () {
      const { store, strategy } = yield* oneWorld
      yield* Effect.all([insertPortfolio(strategy), insertPortfolio(strategy), insertPortfolio(strategy)])
      const claims = yield* Effect.all(
        Array.from({ length: 6 }, () => store.claim(query)),
        { concurrency: "unbounded" }
      )
      const ids = claims.flatMap(({ claimed }) => claimed.map(({ portfolioId }) => portfolioId))
      assert.strictEqual(ids.length, 4)
      assert.strictEqual(new Set(ids).size, 4)
    })
  )

  it.effect("gives the last valuation back as it was written", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store } = yield* oneWorld
      yield* store.claim(query)
      const written = valued(portfolioId, accountId)
      yield* store.record(noon, after(1), [written])
      const { claimed } = yield* store.claim({ ...query, now: after(hour), claimedBefore: noon })
      assert.deepStrictEqual([...claimed[0]!.before], [[accountId, written.accounts[0]!]])
    })
  )

  it.effect("a day keeps its last value, the sum of its flows and the product of its growth", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store } = yield* oneWorld
      yield* store.claim(query)
      const record = (at: DateTime.Utc, changes: Partial<PortfolioValuation>) =>
        store.record(noon, at, [valued(portfolioId, accountId, changes)])
      yield* record(noon, { valueUsd: 7n, cashFlowUsd: 7n })
      assert.deepStrictEqual(yield* store.days(portfolioId, today), [
        { day: today, valueUsd: 7n, cashFlowUsd: 7n, growth: null, isRebased: false }
      ])
      yield* record(after(hour), { valueUsd: 8n, cashFlowUsd: -1n, growth: (Decimal.one * 3n) / 2n })
      yield* record(after(2 * hour), { valueUsd: 9n, cashFlowUsd: 2n, growth: Decimal.one / 3n })
      yield* record(after(3 * hour), { valueUsd: 9n, cashFlowUsd: 0n, growth: null })
      const tomorrow = Day.add(today, 1)
      yield* record(after(24 * hour), { valueUsd: 0n, cashFlowUsd: -9n, growth: Decimal.one })
      assert.deepStrictEqual(yield* store.days(portfolioId, today), [
        // 1.5 times a third, cut at the eighteenth place.
        { day: today, valueUsd: 9n, cashFlowUsd: 8n, growth: 499_999_999_999_999_999n, isRebased: false },
        { day: tomorrow, valueUsd: 0n, cashFlowUsd: -9n, growth: Decimal.one, isRebased: false }
      ])
      assert.lengthOf(yield* store.days(portfolioId, tomorrow), 1)
    })
  )

  it.effect("writes nothing for a portfolio that another process has claimed since", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store } = yield* oneWorld
      yield* store.claim(query)
      yield* store.claim({ ...query, now: after(hour), claimedBefore: noon })
      yield* store.record(noon, after(hour), [valued(portfolioId, accountId)])
      yield* store.record(noon, after(hour), [])
      assert.deepStrictEqual(yield* store.days(portfolioId, today), [])
      const { claimed } = yield* store.claim({ ...query, now: after(2 * hour), claimedBefore: after(hour) })
      assert.strictEqual(claimed[0]!.before.size, 0)
    })
  )

  it.effect("a taken portfolio is the taker's alone, and each claim is later than the one before", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store } = yield* oneWorld
      yield* store.claim(query)
      const taken = yield* Effect.all(
        Array.from({ length: 5 }, () => store.take(portfolioId, noon)),
        { concurrency: "unbounded" }
      )
      const moments = taken.map((one) => Option.getOrThrow(one).claimedAt)
      assert.strictEqual(new Set(moments.map(({ epochMilliseconds }) => epochMilliseconds)).size, 5)
      const valuation = valued(portfolioId, accountId)
      const written: Array<number> = [(yield* store.record(noon, noon, [valuation])).size]
      for (const claimedAt of moments) written.push((yield* store.record(claimedAt, noon, [valuation])).size)
      assert.strictEqual(
        written.reduce((sum, size) => sum + size, 0),
        1
      )
      const again = Option.getOrThrow(yield* store.take(portfolioId, noon))
      assert.deepStrictEqual([...again.portfolio.before.values()], valuation.accounts)
      assert.deepStrictEqual(again.portfolio.accountIds, yield* store.accountsOf(portfolioId))
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE portfolios SET archived_at = now() WHERE portfolio_id = ${portfolioId}`
      assert.isTrue(Option.isNone(yield* store.take(portfolioId, noon)))
      assert.deepStrictEqual(yield* store.accountsOf(portfolioId), [])
    })
  )

  it.effect("many valuations at once are taken and written each by its own claim", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store, strategy } = yield* oneWorld
      const others = yield* Effect.all(Array.from({ length: 5 }, () => insertPortfolio(strategy)))
      const ids = [portfolioId, ...others.map((other) => other.portfolioId)]
      const each = <A>(work: (id: PortfolioId, place: number) => Effect.Effect<A>) =>
        Effect.forEach(ids, work, { concurrency: "unbounded" })
      const accounts = yield* each((id) => store.accountsOf(id))
      const taken = yield* each((id, place) => store.take(id, after(place)))
      assert.deepStrictEqual(
        taken.map((one) => Option.getOrThrow(one)),
        ids.map((id, place) => ({
          portfolio: { portfolioId: id, accountIds: accounts[place]!, before: new Map() },
          claimedAt: after(place)
        }))
      )
      yield* store.take(ids[1]!, after(hour))
      const written = yield* each((id, place) =>
        store.record(after(place), after(hour + place), [valued(id, accountId, { valueUsd: BigInt(place) })])
      )
      assert.deepStrictEqual(
        written.map((one) => [...one]),
        ids.map((id, place) => (place === 1 ? [] : [id]))
      )
      const days = yield* each((id) => store.days(id, today))
      assert.deepStrictEqual(
        days.map((found) => found.map(({ valueUsd }) => valueUsd)),
        ids.map((_, place) => (place === 1 ? [] : [BigInt(place)]))
      )
    })
  )

  it.effect("a day on which the return is counted anew keeps the growth from then on", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store } = yield* oneWorld
      yield* store.claim(query)
      const record = (growth: bigint | null, isRebased = false) =>
        store.record(noon, noon, [valued(portfolioId, accountId, { growth, isRebased })])
      yield* record(Decimal.one * 7n)
      yield* record(null, true)
      const growth = Effect.map(store.days(portfolioId, today), ([day]) => [day!.growth, day!.isRebased])
      assert.deepStrictEqual(yield* growth, [null, true])
      yield* record(Decimal.one * 2n)
      yield* record(Decimal.one * 3n)
      assert.deepStrictEqual(yield* growth, [Decimal.one * 6n, true])
    })
  )

  it.effect("sums what trades did in the blocks of a span, without withdrawals and what was reverted", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store, tenantId } = yield* oneWorld
      const { operationId } = yield* submit(tenantId, portfolioId)
      const trade = (
        { attempt, blockNumber }: { readonly attempt: number; readonly blockNumber: bigint },
        usdcRaw: bigint,
        success = true
      ) =>
        relayed(
          { operationId, accountId, attempt },
          {
            blockNumber,
            success,
            deltas: [
              [usdc, usdcRaw],
              [weth, 10n ** 40n]
            ]
          }
        )
      yield* trade({ attempt: 1, blockNumber: 10n }, -1n)
      yield* trade({ attempt: 2, blockNumber: 11n }, -20n)
      yield* trade({ attempt: 3, blockNumber: 12n }, -300n)
      yield* trade({ attempt: 4, blockNumber: 13n }, -4000n)
      yield* trade({ attempt: 5, blockNumber: 12n }, -50_000n, false)
      const span = { accountId, after: 10n, through: 12n }
      const expected = new Map([
        [
          accountId,
          new Map([
            [usdc, -320n],
            [weth, 2n * 10n ** 40n]
          ])
        ]
      ])
      const found = yield* store.trades([span, { ...span, accountId: portfolioId as string as AccountId }])
      assert.deepStrictEqual(found, { confirmed: expected, pending: new Set<AccountId>() })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE operations SET kind = 'withdraw' WHERE operation_id = ${operationId}`
      assert.strictEqual((yield* store.trades([span])).confirmed.size, 0)
      assert.strictEqual((yield* store.trades([])).confirmed.size, 0)
    })
  )

  it.effect("each of many who ask at once is answered by its own spans, also about the same account", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store, strategy, tenantId } = yield* oneWorld
      const other = yield* insertPortfolio(strategy)
      const otherId = other.flow.authorization.chains[0].accountId
      const { operationId } = yield* submit(tenantId, portfolioId)
      yield* relayed({ operationId, accountId, attempt: 1 }, { blockNumber: 10n, success: true, deltas: [[usdc, -1n]] })
      yield* relayed(
        { operationId, accountId, attempt: 2 },
        { blockNumber: 20n, success: true, deltas: [[usdc, -30n]] }
      )
      const asked = [
        [{ accountId, after: 0n, through: 10n }],
        [{ accountId, after: 10n, through: 20n }],
        [{ accountId: otherId, after: 0n, through: 20n }],
        [
          { accountId, after: 0n, through: 20n },
          { accountId: otherId, after: 0n, through: 20n }
        ]
      ]
      const found = yield* Effect.forEach(asked, (spans) => store.trades(spans, noon), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        found.map(({ confirmed }) => [...confirmed].map(([id, deltas]) => [id, deltas.get(usdc)])),
        [[[accountId, -1n]], [[accountId, -30n]], [], [[accountId, -31n]]]
      )
    })
  )

  it.effect("names accounts with a trade under way, until its operation is over", () =>
    Effect.gen(function* () {
      const { accountId, portfolioId, store, tenantId } = yield* oneWorld
      const { operationId } = yield* submit(tenantId, portfolioId)
      yield* relayed({ operationId, accountId, attempt: 1 })
      const span = { accountId, after: 0n, through: 9n }
      assert.deepStrictEqual([...(yield* store.trades([span])).pending], [accountId])
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE operations SET kind = 'withdraw' WHERE operation_id = ${operationId}`
      assert.strictEqual((yield* store.trades([span])).pending.size, 0)
      yield* sql`
        UPDATE operations SET kind = 'rebalance', state = 'failed', finished_at = submitted_at
        WHERE operation_id = ${operationId}`
      assert.strictEqual((yield* store.trades([span])).pending.size, 0)
    })
  )
})
