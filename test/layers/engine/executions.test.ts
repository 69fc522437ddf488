/**
 * Streams over the life of a rebalance, a withdrawal and a transfer between chains, included by the engine of the same
 * process. The poller sleeps for an hour here: what the streams send, they get from the engine.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Fiber, Latch, Layer, Stream } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import type { ExecutionEvent } from "#domain/execution/ExecutionEvent.ts"
import { ExecutionReader } from "#domain/execution/ExecutionReader.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { StandingAccess } from "#domain/identity/access/StandingAccess.ts"
import { Executions } from "#domain/execution/Executions.ts"
import { OperationTails } from "#domain/execution/OperationTails.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import {
  type ApiKeyId,
  makeOperationId,
  type OperationId,
  type PortfolioId,
  type TenantId
} from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { SignalSteps } from "#layers/engine/SignalSteps.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { connectedPortfolio, enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { patience } from "#test/support/suite/patience.ts"

const anHour = Layer.succeed(StreamSettings, {
  maxOpen: 10,
  maxOpenPerTenant: 10,
  maxOpenPerKey: 10,
  maxOpenPerAddress: 10,
  maxOpenOfSessions: 10,
  maxOpenPerSession: 10,
  maxOpenOfSessionsPerTenant: 10,
  maxOpenOfSessionsPerAddress: 10,
  pollIntervalMs: 3_600_000,
  recheckIntervalMs: 3_600_000
})

const Engine = Executions.layer
  .pipe(Layer.provide(StreamAdmission.layer.pipe(Layer.provide([StandingAccess.layer, AccessChanges.layer]))))
  .pipe(
    Layer.provideMerge(EngineLive),
    Layer.provide(SignalSteps),
    Layer.provideMerge(OperationTails.layer),
    Layer.provideMerge(TestChains),
    Layer.provideMerge(Layer.merge(TestSettings, anHour)),
    Layer.provideMerge(TestStores),
    Layer.provideMerge(NodeCrypto.layer)
  )

const as = (tenantId: TenantId) =>
  Effect.provideService(ExecutionReader, {
    tenantId,
    walletId: null,
    credential: "key_01J00000000000000000000000" as ApiKeyId,
    address: "192.0.2.1"
  })

/** All events of a stream until it ends; `begun` opens with its first event. */
const collect = (
  tenantId: TenantId,
  operationId: OperationId,
  { begun, lastEventId }: { readonly lastEventId?: string | undefined; readonly begun?: Latch.Latch | undefined } = {}
) =>
  Effect.flatMap(Executions, (executions) => executions.follow(operationId, lastEventId)).pipe(
    as(tenantId),
    Effect.flatMap(Effect.fromOption),
    Effect.map(({ events }) => Stream.tap(events, () => begun?.open ?? Effect.void)),
    Effect.flatMap(Stream.runCollect),
    Effect.scoped,
    Effect.timeout(patience)
  )

const accepted = Effect.fnUntraced(function* (tenantId: TenantId, portfolioId: PortfolioId) {
  const operationId = yield* makeOperationId
  const now = yield* DateTime.now
  yield* (yield* OperationStore).submitManual({ operationId, tenantId, portfolioId, now, cooldownMs: 0 })
  return operationId
})

/** Follows an operation from before its run begins; answers its events. */
const followed = Effect.fnUntraced(function* (
  tenantId: TenantId,
  operationId: OperationId,
  kind: "rebalance" | "withdraw"
) {
  const begun = yield* Latch.make()
  const stream = yield* Effect.forkScoped(collect(tenantId, operationId, { begun }))
  yield* begun.await
  yield* (yield* OperationLauncher).launch({ operationId, kind })
  const [, ...events] = yield* Fiber.join(stream)
  const [, ...again] = yield* collect(tenantId, operationId, { lastEventId: "0-0" })
  assert.deepStrictEqual(again.slice(1), events, "read afterwards it is the same, but for the first event")
  return events
})

const summaries = (events: ReadonlyArray<ExecutionEvent>) =>
  events.map(({ body }) => {
    switch (body.kind) {
      case "execution.state_changed":
        return body.to
      case "execution.timeline_appended":
        return body.event
      case "execution.progress":
        return `${body.completedSteps}/${body.totalSteps}`
      default:
        return body.kind
    }
  })

const resultOf = (events: ReadonlyArray<ExecutionEvent>) => {
  const last = events.at(-1)?.body
  return last?.kind === "execution.result" ? last.result : assert.fail("it did not complete")
}

layer(Engine, { excludeTestServices: true })("a stream", (it) => {
  it.effect("over a rebalance of two chains counts them, and ends with what landed", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.fund(accounts[1], arbUsdc.assetId, 10_000_000_000n)
      const operationId = yield* accepted(tenantId, portfolioId)
      const events = yield* followed(tenantId, operationId, "rebalance")
      assert.deepStrictEqual(summaries(events), ["running", "1/2", "2/2", "completed", "execution.result"])
      const result = resultOf(events)
      assert.deepStrictEqual(
        result.steps.map(({ chainId, success }) => [chainId, success]),
        [
          [8453, true],
          [42161, true]
        ]
      )
      for (const { actionHash, txHash } of result.steps) {
        assert.match(txHash, /^0x/)
        assert.match(actionHash ?? "", /^0x/)
      }
      const messages = events.flatMap(({ body }) => (body.kind === "execution.progress" ? [body.message] : []))
      for (const { chainId, txHash } of result.steps)
        assert.include(messages, `Chain ${chainId}: 1 action landed in ${txHash}`)
    }).pipe(Effect.scoped)
  )

  it.effect("over a rebalance of one chain sends no progress", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      ;(yield* TestChain).fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      const operationId = yield* accepted(tenantId, portfolioId)
      const events = yield* followed(tenantId, operationId, "rebalance")
      assert.deepStrictEqual(summaries(events), ["running", "completed", "execution.result"])
      assert.lengthOf(resultOf(events).steps, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("over a withdrawal sends what was delivered, and ends with its transaction", () =>
    Effect.gen(function* () {
      const portfolio = yield* enrolledPortfolio
      const account = portfolio.accounts[0]
      ;(yield* TestChain).fund(account, baseUsdc.assetId, 1_000_000_000n)
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, 1_000_000_000n]] })
      const operationId = yield* acceptWithdrawal(portfolio, { accountId: account, message })
      const events = yield* followed(portfolio.tenantId, operationId, "withdraw")
      assert.deepStrictEqual(summaries(events), ["running", "withdrawn", "completed", "execution.result"])
      const withdrawn = events[1]!.body
      assert.strictEqual(withdrawn.kind === "execution.timeline_appended" && withdrawn.message, "Withdrawn")
      const { steps } = resultOf(events)
      assert.lengthOf(steps, 1)
      assert.deepInclude(steps[0], { chainId: ChainId.make(8453), actionHash: null, success: true })
      assert.deepInclude((withdrawn as { readonly data: object }).data, { txHash: steps[0]!.txHash })
    }).pipe(Effect.scoped)
  )

  it.effect("over a transfer between chains waits for it, and ends with both transactions", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* connectedPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      const runId = yield* accepted(tenantId, portfolioId)
      yield* followed(tenantId, runId, "rebalance")
      const [transfer] = yield* (yield* TransferLedger).openOf(portfolioId)
      const { expectedRaw, operationId, txHash } = transfer!
      const stream = yield* Effect.forkScoped(collect(tenantId, operationId))
      yield* (yield* OperationLauncher).launch({ operationId, kind: "bridge" })
      const arrival = `0x${"ab".repeat(32)}`
      market.fund(accounts[1], arbUsdc.assetId, expectedRaw)
      market.routes.set(txHash, { _tag: "Delivered", txHash: arrival })
      market.arrivals.set(`${accounts[1]} ${arrival}`, {
        success: true,
        isOwn: false,
        blockNumber: 7n,
        deltas: [{ assetId: arbUsdc.assetId, raw: expectedRaw }]
      })
      const events = yield* Fiber.join(stream)
      assert.deepStrictEqual(summaries(events).slice(-2), ["completed", "execution.result"])
      const { executionKey, steps } = resultOf(events)
      assert.strictEqual(executionKey, `bridge:${operationId}`)
      assert.deepStrictEqual(
        steps.map((step) => [step.chainId, step.txHash]),
        [
          [8453, txHash],
          [42161, arrival]
        ]
      )
    }).pipe(Effect.scoped)
  )
})
