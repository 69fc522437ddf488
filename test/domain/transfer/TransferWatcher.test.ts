/** Polls transfers over the real ledger, with a provider whose answers are false. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { erc20, type EvmAddress } from "#domain/Caip.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { TransferWatcher } from "#domain/transfer/TransferWatcher.ts"
import { arbitrum, newAddress, submit, usdc, world } from "#test/layers/sql/fixtures.ts"
import { TestStores } from "#test/support/database.ts"

const arbitrumUsdc = erc20(arbitrum, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831" as EvmAddress)
const arrival = `0x${"cc".repeat(32)}`

/** A provider that names one delivery for everything, and a chain where that brought what one transfer was to bring. */
const Scripted = Layer.merge(
  Layer.mock(Routing, { status: () => Effect.succeed({ _tag: "Delivered", txHash: arrival } as const) }),
  Layer.mock(TransferReceipts, {
    read: () =>
      Effect.succeed(
        Option.some({
          success: true,
          isOwn: false,
          blockNumber: 7n,
          deltas: [{ assetId: arbitrumUsdc, raw: 1_005n }]
        })
      )
  })
)

const World = TransferWatcher.layer.pipe(Layer.provideMerge(Scripted), Layer.provideMerge(TestStores))

/** As many open transfers of one portfolio. */
const opened = Effect.fnUntraced(function* (count: number) {
  const { portfolio, portfolioId, tenantId } = yield* world()
  const at = yield* DateTime.now
  const { operationId: runId } = yield* submit(tenantId, portfolioId, { now: at })
  const ledger = yield* TransferLedger
  const sent = {
    sell: usdc,
    buy: arbitrumUsdc,
    amountRaw: 1_010n,
    minRaw: 990n,
    expectedRaw: 1_000n,
    bridgeAddress: newAddress(),
    tool: "vault"
  }
  for (let attempt = 1; attempt <= count; attempt += 1)
    yield* ledger.open({
      runId,
      attempt,
      accountId: portfolio.flow.authorization.chains[0].accountId,
      txHash: `0x${String(attempt).repeat(64)}`,
      transfers: [sent],
      at
    })
  return { portfolioId, transfers: yield* ledger.openOf(portfolioId) }
})

layer(World, { excludeTestServices: true })("TransferWatcher", (it) => {
  it.effect("closes one transfer by one arrival, whatever else the provider names it for", () =>
    Effect.gen(function* () {
      const { observe } = yield* TransferWatcher
      const { portfolioId, transfers } = yield* opened(2)
      assert.strictEqual((yield* observe(transfers[0]!))._tag, "Ended")
      assert.strictEqual((yield* observe(transfers[1]!))._tag, "Unclear")
      assert.strictEqual((yield* observe(transfers[0]!))._tag, "Ended", "also for a poll that came a moment too late")
      const open = yield* (yield* TransferLedger).openOf(portfolioId)
      assert.deepStrictEqual(open, [transfers[1]!], "its value is still on its way")
    })
  )

  it.effect("closes one of those that are polled in the same moment, by any process", () =>
    Effect.gen(function* () {
      const { observe } = yield* TransferWatcher
      const { portfolioId, transfers } = yield* opened(4)
      const seen = yield* Effect.forEach([...transfers, ...transfers], observe, { concurrency: "unbounded" })
      assert.lengthOf(yield* (yield* TransferLedger).openOf(portfolioId), 3)
      assert.isAtLeast(seen.filter(({ _tag }) => _tag === "Ended").length, 1)
    })
  )
})
