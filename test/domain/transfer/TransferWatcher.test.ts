/** Polls transfers over the real ledger, with a provider whose answers are false. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { erc20, type EvmAddress } from "#domain/values/Caip.ts"
import { type RouteStatus, Routing, RoutingUnavailable } from "#domain/trading/Routing.ts"
import type { TransferEnd } from "#domain/transfer/Transfer.ts"
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
    incoming: () => Effect.succeed([]),
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

/** Opens so many transfers of one portfolio. */
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

/** What a provider says, and what the chains show: transactions by account, and what each brought. */
interface Shown {
  readonly status?: Effect.Effect<RouteStatus, RoutingUnavailable>
  readonly brought?: ReadonlyArray<readonly [side: "sender" | "receiver", txHash: string, raw: bigint]>
}

const notFound = Effect.succeed<RouteStatus>({ _tag: "Pending", detail: "NOT_FOUND" })
const ofAnother = `0x${"dd".repeat(32)}`

/** What is observed of one open transfer. */
const observed = Effect.fnUntraced(function* ({ brought = [], status = notFound }: Shown, ageHours = 0) {
  const { portfolioId, transfers } = yield* opened(1)
  const transfer = transfers[0]!
  const on = (accountId: string) =>
    brought.filter(([side]) => accountId === (side === "sender" ? transfer.accountId : transfer.receiverId))
  const world = Layer.merge(
    Layer.mock(Routing, { status: () => status }),
    Layer.mock(TransferReceipts, {
      incoming: (accountId, { least, most }) =>
        Effect.succeed(
          on(accountId)
            .filter(([, , raw]) => raw >= least && raw <= most)
            .map(([, txHash]) => txHash)
        ),
      read: (accountId, txHash) =>
        Effect.succeed(
          Option.map(Option.fromUndefinedOr(on(accountId).find(([, hash]) => hash === txHash)), ([side, , raw]) => ({
            success: true,
            isOwn: false,
            blockNumber: 9n,
            deltas: raw === 0n ? [] : [{ assetId: side === "sender" ? usdc : arbitrumUsdc, raw }]
          }))
        )
    })
  )
  const ledger = yield* TransferLedger
  const { observe } = yield* Effect.provide(TransferWatcher, TransferWatcher.layer.pipe(Layer.provide(world)))
  const openedAt = DateTime.subtract(transfer.openedAt, { hours: ageHours })
  const seen = yield* observe({ ...transfer, openedAt })
  return { seen, open: (yield* ledger.openOf(portfolioId)).length, end: yield* ledger.endOf(transfer.operationId) }
})

const endOf = ({ end, open }: { readonly end: Option.Option<TransferEnd>; readonly open: number }) => {
  const { received, state } = Option.getOrThrow(end)
  return [open, state, received?.txHash, received?.raw]
}

layer(TestStores, { excludeTestServices: true })("What has arrived", (it) => {
  it.effect("is not in transit, although the provider has never heard of it", () =>
    Effect.gen(function* () {
      const found = yield* observed({ brought: [["receiver", arrival, 1_000n]] })
      assert.deepStrictEqual(endOf(found), [0, "delivered", arrival, 1_000n])
    })
  )

  it.effect(
    "is not in transit while the provider fails, says nothing, calls it failed or names what brought nothing",
    () =>
      Effect.gen(function* () {
        const statuses: ReadonlyArray<NonNullable<Shown["status"]>> = [
          Effect.fail(new RoutingUnavailable({ reason: "it is down" })),
          Effect.never,
          Effect.succeed({ _tag: "Failed", reason: "FAILED" }),
          Effect.succeed({ _tag: "Delivered", txHash: ofAnother })
        ]
        for (const status of statuses) {
          const found = yield* observed({
            status,
            brought: [
              ["receiver", ofAnother, 0n],
              ["receiver", arrival, 995n]
            ]
          })
          assert.deepStrictEqual(endOf(found), [0, "delivered", arrival, 995n])
        }
      })
  )

  it.effect("is what the provider names, where it names what counts", () =>
    Effect.gen(function* () {
      const found = yield* observed({
        status: Effect.succeed({ _tag: "Delivered", txHash: arrival }),
        brought: [
          ["receiver", ofAnother, 1_000n],
          ["receiver", arrival, 991n]
        ]
      })
      assert.deepStrictEqual(endOf(found), [0, "delivered", arrival, 991n])
    })
  )

  it.effect("is not what brought less than the minimum amount, or far more than was expected", () =>
    Effect.gen(function* () {
      for (const raw of [989n, 1_021n]) {
        const { open, seen } = yield* observed({ brought: [["receiver", arrival, raw]] })
        assert.deepStrictEqual([open, seen._tag], [1, "Open"], `${raw}`)
      }
    })
  )

  it.effect("is a refund where about the amount came back on the chain that sent it", () =>
    Effect.gen(function* () {
      const status = Effect.succeed<RouteStatus>({ _tag: "Failed", reason: "FAILED REFUND_IN_PROGRESS" })
      const back = yield* observed({ status, brought: [["sender", arrival, 1_005n]] })
      assert.deepStrictEqual(endOf(back), [0, "refunded", arrival, 1_005n])
      const other = yield* observed({ brought: [["sender", arrival, 900n]] })
      assert.deepStrictEqual([other.open, other.seen._tag], [1, "Open"])
    })
  )

  it.effect("is unclear when it should have arrived an hour ago", () =>
    Effect.gen(function* () {
      const { open, seen } = yield* observed({}, 1)
      assert.strictEqual(open, 1)
      assert.include(seen._tag === "Unclear" ? seen.detail : seen._tag, "left more than 1h ago")
    })
  )
})
