/**
 * The index of random lives of portfolios, over the real stores, against an oracle that keeps every unit at every
 * moment.
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { addressOf, type AssetId, type EvmAccountId } from "#domain/values/Caip.ts"
import type { Day } from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { portfolioCurve } from "#domain/performance/portfolioCurve.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { ValuationStore } from "#domain/performance/ValuationStore.ts"
import { Valuer } from "#domain/performance/Valuer.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { Ledger, LedgerLive } from "#test/domain/performance/Ledger.ts"
import { UnitOracle } from "#test/domain/performance/UnitOracle.ts"
import { submit } from "#test/layers/sql/fixtures.ts"
import { arbUsdc, arbWeth, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { relayed } from "#test/support/chains/relayed.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"

const World = Layer.mergeAll(Valuer.layer, PortfolioValuer.layer).pipe(
  Layer.provideMerge(LedgerLive),
  Layer.provideMerge(TestStores),
  Layer.provide(TestSettings),
  Layer.provideMerge(TestChain.layer),
  Layer.provideMerge(MovableClock.layer)
)

/** Which of the four holdings: US dollars and ether on either chain. */
const place = fc.integer({ min: 0, max: 3 })
const cents = fc.integer({ min: 1, max: 2_000_000 })

const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("deposit" as const), place, cents }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("withdraw" as const), place, part: fc.constantFrom(1n, 2n, 4n) })
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("price" as const), bps: fc.integer({ min: -2_000, max: 2_000 }) })
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("run" as const),
      place,
      part: fc.constantFrom(1n, 2n, 3n),
      costBps: fc.integer({ min: 0, max: 300 }),
      /** Dollars on its chain that leave for the other one. */
      leaves: fc.constantFrom(0n, 0n, 2n, 1n),
      comesIn: fc.option(cents)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("arrival" as const), lostBps: fc.integer({ min: 0, max: 50 }) })
  }
)
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never
const life = fc.array(event, { minLength: 10, maxLength: 40 })

interface Holding {
  readonly name: string
  readonly accountId: EvmAccountId
  readonly assetId: AssetId
  readonly isDollar: boolean
}

const born = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE portfolios SET archived_at = created_at WHERE archived_at IS NULL`
  const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
  const ledger = yield* Ledger
  ledger.held.clear()
  const oracle = new UnitOracle()
  const holdings = [baseUsdc, baseWeth, arbUsdc, arbWeth].map(({ assetId, decimals }, index): Holding => {
    const accountId = accounts[index < 2 ? 0 : 1]!
    const isDollar = decimals === 6
    const name = `${accountId} ${assetId}`
    ledger.prices.set(assetId, isDollar ? Decimal.one : 2_000n * Decimal.one)
    oracle.held.set(name, { raw: 0n, decimals, priceUsd: isDollar ? 1 : 2_000 })
    return { name, accountId, assetId, isDollar }
  })
  const { operationId } = yield* submit(tenantId, portfolioId, { now: yield* DateTime.now })
  return { portfolioId, ledger, oracle, holdings, operationId }
})

/**
 * Lives through the events. When every price move is preceded by a valuation, the index must be the oracle's; otherwise
 * it may differ by what prices did between a flow and the valuation that saw it. Answers both indexes and what they may
 * differ by.
 */
const lived = Effect.fnUntraced(function* (events: ReadonlyArray<Event>, isValuedBeforePrices: boolean) {
  const { holdings, ledger, operationId: runId, oracle, portfolioId } = yield* born
  const [valuer, passes, store, transfers, clock] = [
    yield* PortfolioValuer,
    yield* Valuer,
    yield* ValuationStore,
    yield* TransferLedger,
    yield* MovableClock
  ]
  const underWay: Array<{ readonly operationId: OperationId; readonly to: Holding; readonly name: string }> = []
  let attempt = 0
  /** Logarithms: by how much prices moved since the last valuation, and by how much the index may be off. */
  let [moved, hasFlow, slack] = [0, false, 0]

  const show = () => {
    ledger.block += 1n
    for (const { name } of holdings) ledger.held.set(name, oracle.raw(name))
  }
  const valued = () => {
    if (hasFlow) slack += 2 * moved
    ;[moved, hasFlow] = [0, false]
  }
  const value = Effect.gen(function* () {
    show()
    assert.isTrue(yield* valuer.value(portfolioId))
    valued()
  })
  const flow = ({ name }: Holding, raw: bigint) => {
    oracle.flow(name, raw)
    hasFlow = true
  }
  const rawOf = ({ name }: Holding, usd: number) => {
    const { decimals, priceUsd } = oracle.held.get(name)!
    return BigInt(Math.floor((usd / priceUsd) * 1e6)) * 10n ** BigInt(decimals - 6)
  }

  const run = Effect.fnUntraced(function* ({ comesIn, costBps, leaves, part, place }: Extract<Event, { kind: "run" }>) {
    yield* value
    const sold = holdings[place]!
    const bought = holdings[place ^ 1]!
    const dollar = sold.isDollar ? sold : bought
    const soldRaw = oracle.raw(sold.name) / part
    const { decimals, priceUsd } = oracle.held.get(sold.name)!
    const boughtRaw = rawOf(bought, (Number(soldRaw) / 10 ** decimals) * priceUsd * (1 - costBps / 10_000))
    const dollarsRaw = oracle.raw(dollar.name) + (dollar === sold ? -soldRaw : boughtRaw)
    const leftRaw = leaves === 0n ? 0n : dollarsRaw / leaves
    if (comesIn !== null && !isValuedBeforePrices) {
      // What comes in after the plan was made is not traded, so the whole cost falls on what was there.
      flow(sold, rawOf(sold, comesIn / 100))
      slack += -2 * Math.log(1 - costBps / 10_000) + 0.01
    }
    oracle.move(sold.name, -soldRaw)
    oracle.move(bought.name, boughtRaw)
    oracle.move(dollar.name, -leftRaw)
    const deltas = new Map<AssetId, bigint>([
      [sold.assetId, -soldRaw],
      [bought.assetId, boughtRaw]
    ])
    deltas.set(dollar.assetId, deltas.get(dollar.assetId)! - leftRaw)
    attempt += 1
    ledger.block += 1n
    yield* relayed(
      { operationId: runId, accountId: sold.accountId, attempt },
      { blockNumber: ledger.block, deltas: [...deltas] }
    )
    if (leftRaw > 0n) {
      const to = holdings[holdings.indexOf(dollar) ^ 2]!
      const expectedRaw = (leftRaw * 999n) / 1_000n
      const [operationId] = yield* transfers.open({
        runId,
        attempt,
        accountId: sold.accountId,
        txHash: `0x${attempt.toString(16).padStart(64, "0")}`,
        at: yield* DateTime.now,
        transfers: [
          {
            sell: dollar.assetId,
            buy: to.assetId,
            amountRaw: leftRaw,
            minRaw: 1n,
            expectedRaw,
            bridgeAddress: addressOf(sold.accountId),
            tool: "vault"
          }
        ]
      })
      const name = `transfer ${operationId}`
      oracle.held.set(name, { raw: expectedRaw, decimals: 6, priceUsd: 1 })
      underWay.push({ operationId: operationId!, to, name })
    }
    if (comesIn !== null && isValuedBeforePrices) flow(bought, rawOf(bought, comesIn / 100))
    yield* value
  })

  const arrive = Effect.fnUntraced(function* (lostBps: number) {
    const transfer = underWay.shift()
    if (transfer === undefined) return
    const { name, operationId, to } = transfer
    const raw = (oracle.raw(name) * BigInt(10_000 - lostBps)) / 10_000n
    // A loss is nobody's but of those who were there: the flows before it are cut off.
    yield* value
    oracle.move(name, -oracle.raw(name))
    oracle.move(to.name, raw)
    ledger.block += 1n
    const txHash = `0x${ledger.block.toString(16).padStart(64, "0")}`
    const received = { assetId: to.assetId, raw, txHash, blockNumber: ledger.block }
    const at = yield* DateTime.now
    assert.isTrue(
      yield* transfers.close(operationId, { state: "delivered", received, reason: null }, { at, closedBefore: 0 })
    )
  })

  for (const one of events) {
    if (one.kind === "deposit") flow(holdings[one.place]!, rawOf(holdings[one.place]!, one.cents / 100))
    if (one.kind === "withdraw") flow(holdings[one.place]!, -oracle.raw(holdings[one.place]!.name) / one.part)
    if (one.kind === "run") yield* run(one)
    if (one.kind === "arrival") yield* arrive(one.lostBps)
    if (one.kind === "price") {
      if (isValuedBeforePrices) yield* value
      for (const { assetId, isDollar, name } of holdings) {
        if (isDollar) continue
        const price = (ledger.prices.get(assetId)! * BigInt(10_000 + one.bps)) / 10_000n
        ledger.prices.set(assetId, price)
        oracle.held.get(name)!.priceUsd = Number(price) / 1e18
      }
      moved += Math.abs(Math.log(1 + one.bps / 10_000))
    }
    if (one.kind === "pass") {
      clock.advance(3_600_000)
      show()
      if ((yield* passes.pass).valued === 1) valued()
    }
  }
  yield* value
  const points = portfolioCurve(yield* store.days(portfolioId, 0 as Day))
  const flows = points.reduce((sum, { cashFlowUsd }) => sum + cashFlowUsd, 0n)
  const index = points.findLast((point) => point.index !== null)?.index ?? indexOne
  return {
    index: Number(index) / Number(indexOne),
    value: Number(points.at(-1)!.valueUsd) / 1e18,
    flows: Number(flows) / 1e18,
    isRebased: points.some(({ isRebased }) => isRebased),
    oracle,
    slack
  }
})

/** Each of the same random lives in every run. */
const lives = (count: number, seed: number) => fc.sample(life, { numRuns: count, seed })

layer(World, { excludeTestServices: true })("the time-weighted return of random lives", (it) => {
  it.effect(
    "is what an oracle says that keeps every unit at every moment, when prices stand still between a flow and its valuation",
    () =>
      Effect.gen(function* () {
        for (const events of lives(25, 10)) {
          const { flows, index, isRebased, oracle, value } = yield* lived(events, true)
          const history = JSON.stringify(events, (_, part) => (typeof part === "bigint" ? Number(part) : part))
          const near = (a: number, b: number) => assert.closeTo(a, b, 1e-9 * Math.max(1, Math.abs(b)), history)
          assert.isFalse(isRebased, history)
          near(value, oracle.valueUsd)
          near(index, oracle.index)
          near(flows, oracle.flowsUsd)
        }
      })
  )

  it.effect(
    "differs from it by no more than prices moved between flows and valuations, and is never zero while value is left",
    () =>
      Effect.gen(function* () {
        for (const events of lives(25, 20)) {
          const { index, isRebased, oracle, slack, value } = yield* lived(events, false)
          const history = JSON.stringify(events, (_, part) => (typeof part === "bigint" ? Number(part) : part))
          assert.isFalse(isRebased, history)
          assert.closeTo(value, oracle.valueUsd, 1e-9 * Math.max(1, oracle.valueUsd), history)
          assert.isAbove(index, 0, history)
          assert.isAtMost(Math.abs(Math.log(index / oracle.index)), slack + 1e-9, history)
        }
      })
  )
})
