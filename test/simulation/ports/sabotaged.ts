/** Stores of the service with a fault that a test asked for. */
import { Effect, Layer } from "effect"
import { DueStore } from "#domain/rebalance/DueStore.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import type { World } from "#test/simulation/world/World.ts"

const ledger = Layer.effect(
  TransferLedger,
  Effect.map(TransferLedger, (real) =>
    TransferLedger.of({ ...real, recordIntent: () => Effect.void, open: () => Effect.succeed([]) })
  )
)

const due = Layer.effect(
  DueStore,
  Effect.map(DueStore, (real) => DueStore.of({ ...real, claim: () => Effect.succeed({ checkId: "none", due: [] }) }))
)

const none: Layer.Layer<never, never, TransferLedger | DueStore> = Layer.empty

export const sabotaged = ({ sabotage }: World): Layer.Layer<never, never, TransferLedger | DueStore> => {
  if (sabotage === "ledger forgets") return ledger as typeof none
  return sabotage === "never claims" ? (due as typeof none) : none
}
