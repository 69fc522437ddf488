/** Stores of the service with a fault that a test asked for. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DueStore } from "#domain/rebalance/DueStore.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import type { CheckId } from "#domain/values/Ids.ts"
import type { World } from "#test/simulation/world/World.ts"

const ledger = Layer.effect(
  TransferLedger,
  Effect.map(TransferLedger, (real) =>
    TransferLedger.of({ ...real, recordIntent: () => Effect.void, open: () => Effect.succeed([]) })
  )
)

const due = Layer.effect(
  DueStore,
  Effect.map(DueStore, (real) =>
    DueStore.of({ ...real, claim: () => Effect.succeed({ checkId: "none" as CheckId, due: [] }) })
  )
)

const relayer = Layer.effect(
  Relayer,
  Effect.gen(function* () {
    const real = yield* Relayer
    const sql = yield* SqlClient.SqlClient
    return Relayer.of({
      ...real,
      sign: (...asked) => Effect.catchTag(sql.withTransaction(real.sign(...asked)), "SqlError", Effect.die)
    })
  })
)

type Sabotaged = Layer.Layer<never, never, TransferLedger | DueStore | Relayer | SqlClient.SqlClient>

const none: Sabotaged = Layer.empty

export const sabotaged = ({ sabotage }: World): Sabotaged => {
  if (sabotage === "ledger loses") return ledger as typeof none
  if (sabotage === "signs within a transaction") return relayer as typeof none
  return sabotage === "never claims" ? (due as typeof none) : none
}
