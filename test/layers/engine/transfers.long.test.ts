/**
 * Transfers between chains over embedded PostgreSQL and a market in memory: what leaves, is counted, and comes to rest.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Option, Schedule, Schema } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import { makeOperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { isTerminal, type Operation } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { RunReport } from "#domain/rebalance/RunReport.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import type { RouteStatus } from "#domain/trading/Routing.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { arbUsdc, arbWeth, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { connectedPortfolio } from "#test/support/enrolledPortfolio.ts"
import { testSettings, TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { patience } from "#test/support/suite/patience.ts"

const Unscheduled = InTransit.layer.pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const Engine = SchedulerLive.pipe(Layer.provideMerge(Unscheduled))

const soon = Schedule.spaced("50 millis")

interface Enrolled {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly accounts: readonly [AccountId, AccountId]
}

const run = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Enrolled) {
  const store = yield* OperationStore
  const operationId = yield* makeOperationId
  const now = yield* DateTime.now
  yield* store.submitManual({ operationId, tenantId, portfolioId, now, cooldownMs: 0 })
  yield* Effect.flatMap(OperationLauncher, (launcher) => launcher.launch({ operationId, kind: "rebalance" }))
  return yield* store.find(tenantId, portfolioId, operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail(({ state }) => isTerminal(state)),
    Effect.retry(soon),
    Effect.timeout(patience)
  )
})

/** What a run reports of each chain. */
const reported = Effect.fnUntraced(function* ({ operationId, state }: Operation) {
  assert.strictEqual(state, "completed")
  const report = yield* Effect.flatMap(RunStore, (runs) => runs.report(operationId))
  return (yield* Schema.decodeUnknownEffect(Schema.toCodecJson(RunReport))(Option.getOrThrow(report))).chains
})

const openTransfers = ({ portfolioId }: Enrolled) =>
  Effect.flatMap(TransferLedger, (ledger) => ledger.openOf(portfolioId))

/** 10,000 dollars on Base, of which half belongs to Arbitrum. */
const oneSided = Effect.gen(function* () {
  const enrolled = yield* connectedPortfolio
  const market = yield* TestChain
  market.fund(enrolled.accounts[0], baseUsdc.assetId, 10_000_000_000n)
  assert.strictEqual((yield* run(enrolled)).state, "completed")
  const [transfer] = yield* openTransfers(enrolled)
  return { enrolled, market, transfer: transfer! }
})

const arrival = `0x${"ab".repeat(32)}`

const ended = Effect.fnUntraced(function* (enrolled: Enrolled) {
  yield* openTransfers(enrolled).pipe(
    Effect.filterOrFail((open) => open.length === 0),
    Effect.retry(soon),
    Effect.timeout(patience)
  )
})

layer(Engine, { excludeTestServices: true })("transfers between chains", (it) => {
  it.effect("send what a chain has too much of, once, and nothing is traded against it", () =>
    Effect.gen(function* () {
      const { enrolled, market, transfer } = yield* oneSided
      const [onBase, onArbitrum] = enrolled.accounts
      assert.strictEqual(transfer.sell, baseUsdc.assetId)
      assert.strictEqual(transfer.buy, arbUsdc.assetId)
      assert.closeTo(Number(transfer.amountRaw) / 1e6, 5_000, 30)
      const left = market.balance(onBase, baseUsdc.assetId)
      assert.strictEqual((yield* run(enrolled)).state, "completed")
      assert.lengthOf(yield* openTransfers(enrolled), 1)
      assert.strictEqual(market.balance(onBase, baseUsdc.assetId), left)
      assert.strictEqual(market.balance(onArbitrum, arbWeth.assetId), 0n)
    })
  )

  it.effect("end when provider and chain agree, and make the portfolio due, which trades what arrived", () =>
    Effect.gen(function* () {
      const { enrolled, market, transfer } = yield* oneSided
      const [, onArbitrum] = enrolled.accounts
      market.routes.set(transfer.txHash, { _tag: "Delivered", txHash: arrival })
      yield* Effect.sleep("1200 millis")
      assert.lengthOf(yield* openTransfers(enrolled), 1, "the chain does not have it yet")
      market.fund(onArbitrum, arbUsdc.assetId, transfer.expectedRaw)
      market.arrivals.set(`${onArbitrum} ${arrival}`, {
        success: true,
        isOwn: false,
        blockNumber: 7n,
        deltas: [{ assetId: arbUsdc.assetId, raw: transfer.expectedRaw }]
      })
      yield* ended(enrolled)
      const store = yield* OperationStore
      const operation = yield* store.find(enrolled.tenantId, enrolled.portfolioId, transfer.operationId)
      assert.strictEqual(Option.getOrThrow(operation).kind, "bridge")
      assert.strictEqual(Option.getOrThrow(operation).state, "completed")
      yield* Effect.sync(() => market.balance(onArbitrum, arbWeth.assetId)).pipe(
        Effect.filterOrFail((weth) => weth > 0n),
        Effect.retry(soon),
        Effect.timeout(patience)
      )
    })
  )

  it.effect("count from the block on that took them, and not when it took nothing", () =>
    Effect.gen(function* () {
      const enrolled = yield* connectedPortfolio
      const { accounts, portfolioId } = enrolled
      const market = yield* TestChain
      const transit = yield* InTransit
      const ledger = yield* TransferLedger
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.reverts.set(baseUsdc.chainId, 1)
      const seen: Array<ReadonlyArray<number>> = []
      market.at = (step) =>
        step !== "sent"
          ? Effect.void
          : Effect.gen(function* () {
              const announced = yield* ledger.intentsOf(portfolioId)
              const [before, after] = yield* Effect.forEach([market.block() - 1n, market.block()], (block) =>
                transit.readToShow(
                  portfolioId,
                  Effect.succeed({ accounts: null, blocks: new Map([[accounts[0], block]]) })
                )
              )
              assert.isTrue(before!.areWhole && after!.areWhole)
              seen.push([announced.length, before!.transfers.length, after!.transfers.length])
            })
      assert.strictEqual((yield* run(enrolled)).state, "completed")
      market.at = () => Effect.void
      assert.deepStrictEqual(seen, [
        [1, 0, 0],
        [1, 0, 1]
      ])
      assert.lengthOf(yield* ledger.intentsOf(portfolioId), 0)
      assert.lengthOf(yield* openTransfers(enrolled), 1)
    })
  )

  it.effect("are on their way until the block that brought them, and after it in a balance", () =>
    Effect.gen(function* () {
      const { enrolled, market, transfer } = yield* oneSided
      const [, onArbitrum] = enrolled.accounts
      const transit = yield* InTransit
      const onTheWay = <R>(block: bigint, meanwhile: Effect.Effect<unknown, never, R>) =>
        Effect.map(
          transit.readForPlans([enrolled.portfolioId], () =>
            Effect.as(meanwhile, { accounts: null, blocks: new Map([[onArbitrum, block]]) })
          ),
          (found) => found.onTheWay.length
        )
      /** Runs readings at both blocks that began before any provider reported that it has arrived. */
      const atBoth = Effect.fnUntraced(function* <R>(meanwhile: Effect.Effect<unknown, never, R>) {
        let before = -1
        const readBefore = Effect.map(onTheWay(6n, meanwhile), (found) => (before = found))
        const after = yield* onTheWay(7n, readBefore)
        return [before, after]
      })
      assert.strictEqual(yield* onTheWay(7n, Effect.void), 1, "no provider reports that it has arrived")
      const deliver = Effect.sync(() => {
        market.arrivals.set(`${onArbitrum} ${arrival}`, {
          success: true,
          isOwn: false,
          blockNumber: 7n,
          deltas: [{ assetId: arbUsdc.assetId, raw: transfer.expectedRaw }]
        })
        market.routes.set(transfer.txHash, { _tag: "Delivered", txHash: arrival })
      })
      const close = Effect.gen(function* () {
        assert.deepStrictEqual(yield* atBoth(deliver), [1, 0])
        yield* Effect.orDie(ended(enrolled))
        market.routes.set(transfer.txHash, { _tag: "Pending", detail: "forgotten" })
      })
      assert.deepStrictEqual(yield* atBoth(close), [1, 0], "whoever closed the entry")
    })
  )

  it.effect("that came back are sent anew by the next run", () =>
    Effect.gen(function* () {
      const { enrolled, market, transfer } = yield* oneSided
      const [onBase] = enrolled.accounts
      market.fund(onBase, baseUsdc.assetId, transfer.amountRaw)
      market.arrivals.set(`${onBase} ${arrival}`, {
        success: true,
        isOwn: false,
        blockNumber: 7n,
        deltas: [{ assetId: baseUsdc.assetId, raw: transfer.amountRaw }]
      })
      market.routes.set(transfer.txHash, { _tag: "Refunded", txHash: arrival } satisfies RouteStatus)
      const again = yield* openTransfers(enrolled).pipe(
        Effect.filterOrFail(([open]) => open !== undefined && open.operationId !== transfer.operationId),
        Effect.retry(soon),
        Effect.timeout(patience)
      )
      // Half of 9,991 dollars, for the first run paid 9 for its swap, less half of the 20 that this one is reckoned to
      // cost.
      assert.closeTo(Number(again[0]!.amountRaw) / 1e6, (4_995.5 - 10) / 0.999, 0.1)
      const operation = yield* Effect.flatMap(OperationStore, (store) =>
        store.find(enrolled.tenantId, enrolled.portfolioId, transfer.operationId)
      )
      assert.strictEqual(Option.getOrThrow(operation).state, "failed")
    })
  )

  it.effect("are left out when their route is refused, and then nothing is sold for them", () =>
    Effect.gen(function* () {
      const enrolled = yield* connectedPortfolio
      const market = yield* TestChain
      market.refusal = "it delivers to another account"
      market.fund(enrolled.accounts[0], baseWeth.assetId, 4_000_000_000_000_000_000n)
      assert.strictEqual((yield* run(enrolled)).state, "completed")
      assert.lengthOf(yield* openTransfers(enrolled), 0)
      const usdc = Number(market.balance(enrolled.accounts[0], baseUsdc.assetId)) / 1e6
      assert.closeTo(usdc, 4_000, 40, "its own share of the chain, not more")
      market.refusal = undefined
    })
  )

  it.effect(
    "are planned without while their route is refused: both chains trade what they can, rest, and send later",
    () =>
      Effect.gen(function* () {
        const enrolled = yield* connectedPortfolio
        const market = yield* TestChain
        const [onBase, onArbitrum] = enrolled.accounts
        const held = () =>
          (
            [
              [onBase, baseUsdc, 1e6],
              [onBase, baseWeth, 1e18],
              [onArbitrum, arbUsdc, 1e6],
              [onArbitrum, arbWeth, 1e18]
            ] as const
          ).map(([account, { assetId }, scale]) => Number(market.balance(account, assetId)) / scale)
        market.refusal = "it delivers to another account"
        market.fund(onBase, baseUsdc.assetId, 10_000_000_000n)
        market.fund(onArbitrum, arbWeth.assetId, 1_000_000_000_000_000_000n)
        yield* reported(yield* run(enrolled))
        // Each chain is 60 percent WETH and 40 percent USDC of its own: 10,000 and 2,500 dollars.
        const traded = held()
        for (const [index, whole] of [4_000, 2.4, 1_000, 0.6].entries())
          assert.closeTo(traded[index]!, whole, whole / 100)

        const [base, arbitrum] = yield* reported(yield* run(enrolled))
        assert.deepStrictEqual(held(), traded)
        assert.deepStrictEqual([base!.receipt, arbitrum!.receipt], [null, null])
        assert.deepStrictEqual(
          base!.skips.map(({ code }) => code),
          ["CROSS_CHAIN_PENDING", "TRANSFER_REFUSED"]
        )
        assert.match(base!.skips[0]!.reason, /more than its share .* no acceptable route was found for the transfer/)
        assert.strictEqual(base!.skips[1]!.reason, "it delivers to another account; 3727.55 USD stay on their chain")
        assert.strictEqual(base!.skips[1]!.buy, arbUsdc.assetId)
        assert.strictEqual(arbitrum!.skips.at(-1)!.code, "CROSS_CHAIN_PENDING")
        assert.match(
          arbitrum!.skips.at(-1)!.reason,
          /less than its share .* no acceptable route was found for the transfer/
        )

        market.refusal = undefined
        yield* reported(yield* run(enrolled))
        const [transfer] = yield* openTransfers(enrolled)
        assert.closeTo(Number(transfer!.amountRaw) / 1e6, 3_750, 40)
      })
  )

  it.effect(
    "that the chain refuses though their route is quoted let the receiver wait for one run, and are tried again",
    () =>
      Effect.gen(function* () {
        const enrolled = yield* connectedPortfolio
        const market = yield* TestChain
        const [onBase, onArbitrum] = enrolled.accounts
        const arbitrumUsdc = () => Number(market.balance(onArbitrum, arbUsdc.assetId)) / 1e6
        market.bridgeIsPaused = true
        market.fund(onBase, baseUsdc.assetId, 10_000_000_000n)
        market.fund(onArbitrum, arbWeth.assetId, 1_000_000_000_000_000_000n)
        yield* reported(yield* run(enrolled))
        assert.strictEqual(arbitrumUsdc(), 0, "it waits for what is to come")
        yield* reported(yield* run(enrolled))
        assert.closeTo(arbitrumUsdc(), 1_000, 10, "its own share, made of its own value")

        // Each failure closes the way for twice as many runs: tries are runs 1, 3, 6, 11 of these.
        const refused: Array<number> = []
        for (let number = 3; number <= 11; number += 1) {
          const [base] = yield* reported(yield* run(enrolled))
          if (base!.skips.some(({ code }) => code === "SIMULATION_FAILED")) refused.push(number)
        }
        assert.deepStrictEqual(refused, [3, 6, 11])
        assert.lengthOf(yield* openTransfers(enrolled), 0)

        market.bridgeIsPaused = false
        for (let runs = 0; runs < 9; runs += 1) yield* reported(yield* run(enrolled))
        const [transfer] = yield* openTransfers(enrolled)
        assert.closeTo(Number(transfer!.amountRaw) / 1e6, 3_750, 60)
      })
  )

  it.effect("open once, however often the run's step is repeated", () =>
    Effect.gen(function* () {
      const { enrolled, transfer } = yield* oneSided
      const ledger = yield* TransferLedger
      const opened = {
        runId: transfer.operationId,
        attempt: 1,
        accountId: enrolled.accounts[0],
        txHash: transfer.txHash,
        transfers: [transfer],
        at: yield* DateTime.now
      }
      const first = yield* ledger.open(opened)
      assert.deepStrictEqual(yield* ledger.open(opened), first)
      assert.lengthOf(yield* openTransfers(enrolled), 2)
    })
  )
})

layer(Unscheduled, { excludeTestServices: true })("the watch of a transfer", (it) => {
  it.effect("begins without a scheduler, and gives its slot up between polls", () =>
    Effect.gen(function* () {
      const { enrolled, transfer } = yield* oneSided
      const store = yield* OperationStore
      const { portfolioId, tenantId } = enrolled
      yield* store.find(tenantId, portfolioId, transfer.operationId).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.filterOrFail(({ state }) => state === "running"),
        Effect.retry(soon),
        Effect.timeout(patience)
      )
      yield* Effect.flatMap(OperationLauncher, ({ capacity }) => capacity).pipe(
        Effect.filterOrFail((free) => free === testSettings.engine.maxRunsInFlight),
        Effect.retry(soon),
        Effect.timeout(patience)
      )
      assert.lengthOf(yield* openTransfers(enrolled), 1)
    })
  )

  it.effect("outlives a fault of ours", () =>
    Effect.gen(function* () {
      const { enrolled, market, transfer } = yield* oneSided
      const routes = market.routes.get.bind(market.routes)
      let faults = 0
      market.routes.get = (txHash) => {
        if (txHash !== transfer.txHash || faults === 2) return routes(txHash)
        faults += 1
        throw new Error("a fault of ours")
      }
      market.routes.set(transfer.txHash, { _tag: "Delivered", txHash: arrival })
      market.arrivals.set(`${enrolled.accounts[1]} ${arrival}`, {
        success: true,
        isOwn: false,
        blockNumber: 7n,
        deltas: [{ assetId: arbUsdc.assetId, raw: transfer.expectedRaw }]
      })
      yield* ended(enrolled)
      assert.strictEqual(faults, 2)
    })
  )
})
