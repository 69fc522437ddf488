/**
 * Any set of actions on one account, asked for in one moment of three processes on one database: all of them end as
 * they would one after the other, and no operation comes with a nonce that another one has used.
 */
import { assert, describe, it } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { OrderStore } from "#domain/order/OrderStore.ts"
import { type AccountId, addressOf, type EvmAddress } from "#domain/values/Caip.ts"
import { makeOperationId, type OperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import type { OperationKind } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { acceptSwap } from "#test/support/acceptedSwap.ts"
import { acceptWithdrawal, type Enrolled, messageOf, reached } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { MarketPorts, TestChain } from "#test/support/chains/TestChains.ts"
import { newServerDatabase, storesOn } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"

const timing = { searchFor: Duration.seconds(2), searchInterval: Duration.millis(50), holdFor: Duration.minutes(5) }

/** A process: an engine and stores of its own, over the same database and the same chains. */
const processOn = (url: string, market: typeof TestChain.Service) =>
  Layer.build(
    Layer.fresh(
      EngineLive.pipe(
        Layer.provide(Layer.succeed(RelayTiming, timing)),
        Layer.provideMerge(MarketPorts),
        Layer.provideMerge(Layer.succeed(TestChain, market)),
        Layer.provideMerge(TestSettings),
        Layer.provideMerge(storesOn(url)),
        Layer.provideMerge(NodeCrypto.layer)
      )
    )
  )

/** Draws numbers that depend on the seed alone. Source: Numerical Recipes' linear congruential generator. */
const drawing = (seed: number) => {
  let state = seed >>> 0
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const kinds = ["swap", "swap", "execute", "execute", "withdraw", "rebalance"] as const

interface Wanted {
  readonly kind: Extract<OperationKind, (typeof kinds)[number]>
  readonly amountRaw: bigint
  readonly process: number
}

/** One rebalance at most, as a portfolio has one at a time. */
const wantedBy = (seed: number): ReadonlyArray<Wanted> => {
  const draw = drawing(seed)
  const all = Array.from({ length: 5 + draw(16) }, (_, index): Wanted => ({
    kind: kinds[draw(kinds.length)]!,
    amountRaw: 20_000_000n + BigInt(draw(1_000) * 1_000 + index),
    process: draw(3)
  }))
  const first = all.findIndex(({ kind }) => kind === "rebalance")
  return all.map((one, index) => (one.kind === "rebalance" && index !== first ? { ...one, kind: "swap" } : one))
}

const accept = Effect.fnUntraced(function* (portfolio: Enrolled, accountId: AccountId, { amountRaw, kind }: Wanted) {
  if (kind === "swap") return yield* acceptSwap(portfolio, accountId, { amountRaw })
  if (kind === "withdraw") {
    const message = yield* messageOf(portfolio, accountId, { assets: [[baseUsdc.assetId, amountRaw]] })
    return yield* acceptWithdrawal(portfolio, { accountId, message })
  }
  const operationId = yield* makeOperationId
  if (kind === "rebalance") {
    const now = yield* DateTime.now
    yield* (yield* OperationStore).submitManual({ ...portfolio, operationId, now, cooldownMs: 0 })
    return operationId
  }
  yield* (yield* OrderStore).submit({
    ...portfolio,
    operationId,
    submittedAt: yield* DateTime.now,
    correlationId: "0".repeat(32),
    requestId: null,
    requestHash: new Uint8Array(32),
    order: {
      _tag: "Calls",
      chainId: baseUsdc.chainId,
      accountId,
      calls: [{ to: addressOf(baseUsdc.assetId) as EvmAddress, data: "0x" }]
    }
  })
  return operationId
})

describe("many actions on one account", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8])
    it.live(`asked for in one moment on three processes end as one after the other, seed ${seed}`, () =>
      Effect.gen(function* () {
        const url = yield* newDatabase
        const market = Context.get(yield* Layer.build(Layer.fresh(TestChain.layer)), TestChain)
        const processes = yield* Effect.all([processOn(url, market), processOn(url, market), processOn(url, market)], {
          concurrency: 3
        })
        const { accounts, portfolioId, tenantId } = yield* Effect.provideContext(enrolledPortfolio, processes[0]!)
        const portfolio = { portfolioId, tenantId }
        const [account] = accounts
        market.fund(account, baseUsdc.assetId, 10_000_000_000n)
        const wanted = wantedBy(seed)
        const asked = yield* Effect.forEach(
          wanted,
          (one) =>
            Effect.gen(function* () {
              const operationId: OperationId = yield* accept(portfolio, account, one)
              yield* (yield* OperationLauncher).launch({ operationId, kind: one.kind })
              return { ...one, operationId }
            }).pipe(Effect.provideContext(processes[one.process]!)),
          { concurrency: "unbounded" }
        )
        for (const { kind, operationId } of asked) {
          const operation = yield* Effect.provideContext(reached(portfolio, operationId), processes[0]!)
          assert.strictEqual(operation.state, "completed", `${kind}: ${operation.error}`)
        }
        assert.strictEqual(market.overtaken, 0, "no operation came with a nonce that was used")
        const receipts = [...market.included.values()]
        assert.isTrue(receipts.every(({ success }) => success))
        const rebalances = wanted.filter(({ kind }) => kind === "rebalance").length
        const others = wanted.length - rebalances
        assert.isTrue(receipts.length >= others && receipts.length <= others + 2 * rebalances, `${receipts.length}`)
        // What was asked for left the account to the unit, once each; only the rebalance moved anything besides.
        const moved = (raw: bigint) =>
          receipts.filter(({ deltas }) => deltas.some((one) => one.assetId === baseUsdc.assetId && one.raw === raw))
        for (const { amountRaw, kind } of wanted)
          if (kind === "swap" || kind === "withdraw") assert.lengthOf(moved(-amountRaw), 1, `${kind} of ${amountRaw}`)
        for (const { assetId } of [baseUsdc, baseWeth]) {
          const held = receipts
            .flatMap(({ deltas }) => deltas)
            .reduce((sum, delta) => (delta.assetId === assetId ? sum + delta.raw : sum), 0n)
          const funded = assetId === baseUsdc.assetId ? 10_000_000_000n : 0n
          assert.strictEqual(market.balance(account, assetId), funded + held)
        }
      }).pipe(Effect.scoped)
    )
})
