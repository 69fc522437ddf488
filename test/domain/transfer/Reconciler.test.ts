/** The ledger against chain truth: over the real stores, with chains that answer as a test sets them. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Metric, Option } from "effect"
import { SqlClient } from "effect/sql"
import { erc20, type EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { type Arrival, TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { Reconciler } from "#domain/transfer/Reconciler.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { arbitrum, base, newAddress, submit, usdc, world } from "#test/layers/sql/fixtures.ts"
import { TestStores } from "#test/support/database.ts"
import { relayed } from "#test/support/chains/relayed.ts"

const arbitrumUsdc = erc20(arbitrum, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831" as EvmAddress)

/** What the chains say, by transaction or by action; "down" when they say nothing. */
const said = new Map<string, Arrival | "down">()
const outcomes = new Map<string, Omit<ActionReceipt, "actionHash"> | "down">()

const down = new ChainUnavailable({ chainId: base, reason: "taken down by the test" })

const Scripted = Layer.merge(
  Layer.succeed(TransferReceipts, {
    inclusionOf: () => Effect.succeedNone,
    incoming: () => Effect.succeed([]),
    read: (_, txHash) =>
      Effect.suspend(() => {
        const answer = said.get(txHash)
        return answer === "down" ? Effect.fail(down) : Effect.succeed(Option.fromUndefinedOr(answer))
      })
  }),
  Layer.mock(ActionReceipts, {
    find: ({ actionHash }) =>
      Effect.suspend(() => {
        const outcome = outcomes.get(actionHash)
        if (outcome === "down") return Effect.fail(down)
        return Effect.succeed(outcome === undefined ? Option.none() : Option.some({ actionHash, ...outcome }))
      })
  })
)

const World = Reconciler.layer.pipe(Layer.provideMerge(Scripted), Layer.provideMerge(TestStores))

let drawn = 0
const newHash = () => {
  drawn += 1
  return `0x${drawn.toString(16).padStart(64, "0")}`
}

const transfer = {
  sell: usdc,
  buy: arbitrumUsdc,
  amountRaw: 1_000_000n,
  minRaw: 990_000n,
  expectedRaw: 999_000n,
  bridgeAddress: newAddress(),
  tool: "vault"
}

/** A run, and what it would send. */
const begun = Effect.gen(function* () {
  const { portfolio, portfolioId, tenantId } = yield* world()
  const at = yield* DateTime.now
  const { operationId: runId } = yield* submit(tenantId, portfolioId, { now: at })
  const { accountId } = portfolio.flow.authorization.chains[0]
  return { tenantId, portfolioId, intent: { runId, attempt: 1, accountId, at, transfers: [transfer] } }
})

/** An open entry of the ledger. */
const opened = Effect.gen(function* () {
  const { intent } = yield* begun
  const txHash = newHash()
  const [operationId] = yield* Effect.flatMap(TransferLedger, ({ open }) => open({ ...intent, txHash }))
  return { operationId: operationId!, txHash, at: intent.at }
})

const took: Arrival = { success: true, isOwn: true, blockNumber: 7n, deltas: [{ assetId: usdc, raw: -1_000_000n }] }

const pass = Effect.flatMap(Reconciler, (reconciler) => reconciler.pass)

const clean = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM transfers`
  yield* sql`DELETE FROM transfer_intents`
})

/** A run that recorded the intent of a transfer, signed when asked to, and died so many minutes ago. */
const abandonedIntents = Effect.fnUntraced(function* (isSigned: boolean, minutesAgo = 10) {
  const { intent, portfolioId, tenantId } = yield* begun
  const { accountId, runId } = intent
  const actionHash = newHash()
  yield* Effect.flatMap(TransferLedger, ({ recordIntent }) => recordIntent({ ...intent, actionHash, fromBlock: 1n }))
  if (isSigned) yield* relayed({ operationId: runId, accountId, attempt: 1 }, undefined, actionHash)
  const died = DateTime.subtract(yield* DateTime.now, { minutes: minutesAgo })
  const operations = yield* OperationStore
  yield* operations.transition({ operationId: runId, to: "running", at: died, error: null })
  yield* operations.transition({ operationId: runId, to: "failed", at: died, error: "internal error" })
  const standing = Effect.gen(function* () {
    const ledger = yield* TransferLedger
    return {
      intents: (yield* ledger.intentsOf(portfolioId)).length,
      open: yield* ledger.openOf(portfolioId)
    }
  })
  return { runId, actionHash, standing, tenantId, portfolioId }
})

const receipt = (success: boolean) => ({
  txHash: newHash(),
  blockNumber: 7n,
  blockHash: newHash(),
  success,
  gasUsed: 1n,
  deltas: []
})

layer(World, { excludeTestServices: true })("Reconciler", (it) => {
  it.effect("finds no discrepancy where the source chain confirms the ledger, or cannot be asked", () =>
    Effect.gen(function* () {
      yield* clean
      const [borneOut, silent] = [yield* opened, yield* opened]
      said.set(borneOut.txHash, took)
      said.set(silent.txHash, "down")
      const { discrepancies, open } = yield* pass
      assert.strictEqual(open, 2)
      assert.deepStrictEqual(discrepancies, [])
    })
  )

  it.effect("reports every kind of discrepancy with its operation, and changes nothing", () =>
    Effect.gen(function* () {
      yield* clean
      const [unknown, failed, nothing] = [yield* opened, yield* opened, yield* opened]
      said.set(failed.txHash, { ...took, success: false })
      said.set(nothing.txHash, { ...took, deltas: [] })
      const { discrepancies, open } = yield* pass
      assert.deepStrictEqual(
        discrepancies.toSorted((a, b) => (a.operationId < b.operationId ? -1 : 1)),
        [
          { operationId: unknown.operationId, reason: `the source chain does not know ${unknown.txHash}` },
          { operationId: failed.operationId, reason: `on the source chain ${failed.txHash} failed` },
          { operationId: nothing.operationId, reason: `${nothing.txHash} moved nothing of the account` }
        ].toSorted((a, b) => (a.operationId < b.operationId ? -1 : 1))
      )
      assert.strictEqual(open, 3)
      assert.deepStrictEqual(yield* pass.pipe(Effect.map((again) => [again.open, again.discrepancies.length])), [3, 3])
      assert.strictEqual((yield* Metric.value(Metrics.transferDrift)).value, 3)
      assert.strictEqual((yield* Metric.value(Metrics.transfersOpen)).value, 3)
    })
  )

  it.effect("walks over all pages, and measures the oldest entry", () =>
    Effect.gen(function* () {
      yield* clean
      const { at, operationId, txHash } = yield* opened
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        WITH more AS (
          INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
            last_sequence)
          SELECT 'op_0' || lpad(n::text, 25, '0'), tenant_id, portfolio_id, kind, trigger, state, submitted_at,
          updated_at, last_sequence
          FROM operations, generate_series(1, 249) AS n WHERE operation_id = ${operationId}
          RETURNING operation_id
        )
        INSERT INTO transfers SELECT (t).* FROM (
          SELECT jsonb_populate_record(t, jsonb_build_object('operation_id', more.operation_id, 'attempt', 2,
            'position', row_number() OVER (), 'opened_at', t.opened_at - interval '2 hours')) AS t
          FROM more, transfers t WHERE t.operation_id = ${operationId}
        ) copies`
      said.set(txHash, took)
      const { discrepancies, oldest, open } = yield* pass
      assert.strictEqual(open, 250)
      assert.deepStrictEqual(discrepancies, [])
      const age = Duration.toMillis(DateTime.distance(at, yield* DateTime.now))
      assert.isTrue(Math.abs(Duration.toMillis(oldest) - 7_200_000 - age) < 60_000)
      assert.isTrue(Number((yield* Metric.value(Metrics.oldestTransferAge)).value) >= 7_200)
      yield* clean
      yield* pass
      assert.strictEqual((yield* Metric.value(Metrics.oldestTransferAge)).value, 0)
      assert.strictEqual((yield* Metric.value(Metrics.transfersOpen)).value, 0)
    })
  )

  it.effect("opens what a dead run sent, once, however many processes and passes see it", () =>
    Effect.gen(function* () {
      yield* clean
      const { runId, standing, actionHash, tenantId, portfolioId } = yield* abandonedIntents(true)
      const landed = receipt(true)
      outcomes.set(actionHash, landed)
      said.set(landed.txHash, took)
      const passes = yield* Effect.all([pass, pass, pass], { concurrency: "unbounded" })
      assert.isTrue(passes.every(({ discrepancies }) => discrepancies.length === 0))
      const { intents, open } = yield* standing
      assert.strictEqual(intents, 0)
      assert.lengthOf(open, 1)
      assert.strictEqual(open[0]!.txHash, landed.txHash)
      const watch = yield* Effect.flatMap(OperationStore, (store) =>
        store.find(tenantId, portfolioId, open[0]!.operationId)
      )
      assert.deepInclude(Option.getOrThrow(watch), { kind: "bridge", state: "accepted" })
      assert.strictEqual((yield* pass).resolved, 0)
      assert.lengthOf((yield* standing).open, 1)
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly status: string }>`
        SELECT status FROM relayed_actions WHERE operation_id = ${runId}`
      assert.deepStrictEqual(rows[0]?.status, "succeeded")
    })
  )

  it.effect("takes back what a dead run never signed, and what can no longer land", () =>
    Effect.gen(function* () {
      yield* clean
      const [unsigned, reverted] = [yield* abandonedIntents(false), yield* abandonedIntents(true)]
      outcomes.set(reverted.actionHash, receipt(false))
      assert.strictEqual((yield* pass).resolved, 2)
      for (const { standing } of [unsigned, reverted]) assert.deepStrictEqual(yield* standing, { intents: 0, open: [] })
    })
  )

  it.effect("keeps what no chain decides and shows it as a discrepancy", () =>
    Effect.gen(function* () {
      yield* clean
      const [open, silent] = [yield* abandonedIntents(true), yield* abandonedIntents(true)]
      outcomes.set(silent.actionHash, "down")
      const { discrepancies, resolved } = yield* pass
      assert.strictEqual(resolved, 0)
      assert.deepStrictEqual(
        discrepancies.map(({ operationId }) => operationId).toSorted(),
        [open.runId, silent.runId].toSorted()
      )
      assert.strictEqual((yield* Metric.value(Metrics.transferDrift)).value, 2)
      for (const { standing } of [open, silent]) assert.strictEqual((yield* standing).intents, 1)
    })
  )

  it.effect("leaves a run alone that lives, or ended a moment ago", () =>
    Effect.gen(function* () {
      yield* clean
      const recent = yield* abandonedIntents(false, 1)
      const { intent, portfolioId } = yield* begun
      const ledger = yield* TransferLedger
      yield* ledger.recordIntent({ ...intent, actionHash: newHash(), fromBlock: 1n })
      const { discrepancies, resolved } = yield* pass
      assert.deepStrictEqual([resolved, discrepancies.length], [0, 0])
      assert.strictEqual((yield* recent.standing).intents, 1)
      assert.lengthOf(yield* ledger.intentsOf(portfolioId), 1)
    })
  )
})
