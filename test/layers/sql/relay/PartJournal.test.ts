import { assert } from "@effect/vitest"
import { DateTime, Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { solanaAccount, solanaChainId } from "#domain/values/Caip.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { type AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import { PartJournal } from "#domain/relay/PartJournal.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, noon, submit, world } from "#test/layers/sql/fixtures.ts"

const accountId = solanaAccount("7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU")
const actionHash = `0x${"07".repeat(32)}`
const prepared = { accountId, actionHash, slot: 400_000_000n }

const newAttempt = Effect.gen(function* () {
  const { portfolioId, tenantId } = yield* world()
  const { operationId } = yield* submit(tenantId, portfolioId)
  const attempt: AttemptId = { operationId, chainId: solanaChainId, attempt: 1 }
  return { attempt, tenantId, portfolioId }
})

/** Base58 of any length; signatures are unique. */
const signatureOf = ({ operationId }: AttemptId, part: number, number: number) => `${operationId}.${part}.${number}`

const recordAs = (isLanded: boolean) => (attempt: AttemptId, part: number, number: number) =>
  Effect.flatMap(PartJournal, (journal) =>
    journal.record({ attempt, part }, prepared, {
      number,
      txHash: signatureOf(attempt, part, number),
      payload: `bytes ${part} ${number}`,
      at: DateTime.add(noon, { seconds: number }),
      isLanded
    })
  )

const record = recordAs(false)

const latest = (attempt: AttemptId, part: number) =>
  Effect.flatMap(PartJournal, (journal) => journal.latest({ attempt, part }))

const statusOf = ({ operationId }: AttemptId) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly status: string; readonly nonce: unknown }>`
    SELECT status, nonce FROM relayed_actions WHERE operation_id = ${operationId}`
  )

eachDatabase("PartJournal", (it) => {
  it.effect("the newest transaction of a part is found again, and its attempt is under way until its receipt", () =>
    Effect.gen(function* () {
      const { attempt } = yield* newAttempt
      assert.isTrue(Option.isNone(yield* latest(attempt, 0)))
      yield* record(attempt, 0, 1)
      yield* record(attempt, 0, 2)
      yield* record(attempt, 1, 1)
      assert.deepStrictEqual(Option.getOrThrow(yield* latest(attempt, 0)), { number: 2, payload: "bytes 0 2" })
      assert.deepStrictEqual(Option.getOrThrow(yield* latest(attempt, 1)), { number: 1, payload: "bytes 1 1" })
      assert.deepStrictEqual(yield* statusOf(attempt), [{ status: "signed", nonce: null }])
      const relay = yield* RelayStore
      const receipt: ActionReceipt = {
        actionHash,
        txHash: "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
        blockNumber: 400_000_001n,
        blockHash: null,
        success: true,
        gasUsed: 5_000n,
        deltas: []
      }
      yield* relay.recordReceipt(attempt, receipt, after(3))
      assert.strictEqual((yield* statusOf(attempt))[0]!.status, "succeeded")
    })
  )

  it.effect("the same number is stored once, so two writers cannot both sign", () =>
    Effect.gen(function* () {
      const { attempt } = yield* newAttempt
      yield* record(attempt, 0, 1)
      const other = yield* Effect.exit(
        Effect.flatMap(PartJournal, (journal) =>
          journal.record({ attempt, part: 0 }, prepared, { number: 1, txHash: "other", payload: "other", at: noon })
        )
      )
      assert.isTrue(Exit.hasDies(other))
      assert.deepStrictEqual(Option.getOrThrow(yield* latest(attempt, 0)), { number: 1, payload: "bytes 0 1" })
    })
  )

  it.effect("nothing is begun for an operation that is to be cancelled, and what was begun is gone on with", () =>
    Effect.gen(function* () {
      const { attempt, portfolioId, tenantId } = yield* newAttempt
      const { operationId } = attempt
      yield* record(attempt, 0, 1)
      const operations = yield* OperationStore
      yield* operations.requestCancel({ tenantId, portfolioId, operationId, now: after(2) })
      yield* record(attempt, 0, 2)
      const refused = yield* Effect.flip(record(attempt, 1, 1))
      assert.strictEqual(refused._tag, "CancelRequested")
      assert.isTrue(Option.isNone(yield* latest(attempt, 1)))
      yield* recordAs(true)(attempt, 1, 1)
      assert.isTrue(Option.isSome(yield* latest(attempt, 1)), "what has landed is recorded all the same")
    })
  )

  it.effect("nothing is signed for an operation that does not exist", () =>
    Effect.gen(function* () {
      const { attempt } = yield* newAttempt
      const unknown = { ...attempt, operationId: `${attempt.operationId}x` as AttemptId["operationId"] }
      assert.isTrue(Exit.hasDies(yield* Effect.exit(record(unknown, 0, 1))))
    })
  )
})
