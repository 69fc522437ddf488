/**
 * Deletes the steps of finished runs some time after their end. Operations, their events and reports, and
 * what makes requests idempotent (enrollment flows, claims of withdrawals) are kept elsewhere and stay.
 */
import { DateTime, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { EngineConfig } from "#layers/engine/cluster/EngineConfig.ts"
import { makeMessageRows } from "#layers/sql/run/makeMessageRows.ts"

const between = Duration.minutes(1)
/** Runs that one statement deletes, and statements of one pass; what is left is for the next one. */
const batch = 500
const batchesOfAPass = 100

export const RunHistory = Layer.effectDiscard(
  Effect.gen(function* () {
    const rows = makeMessageRows(yield* SqlClient.SqlClient)
    const { runRetentionMs } = yield* EngineConfig
    const pass = Effect.gen(function* () {
      const before = DateTime.subtract(yield* DateTime.now, { milliseconds: runRetentionMs })
      for (let done = 0, deleted = batch; done < batchesOfAPass && deleted === batch; done += 1)
        deleted = yield* rows.clean(before, batch)
    })
    yield* keepGoingEvery(pass, { complaint: "Finished runs could not be cleaned up", interval: between })
  })
)
