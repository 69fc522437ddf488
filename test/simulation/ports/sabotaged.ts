/** Stores of the service with a fault that a test asked for. */
import { Effect, Layer } from "effect"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import type { World } from "#test/simulation/world/World.ts"

const ledger = Layer.effect(
  TransferLedger,
  Effect.map(TransferLedger, (real) =>
    TransferLedger.of({ ...real, announce: () => Effect.void, open: () => Effect.succeed([]) })
  )
)

const operations = Layer.effect(
  OperationStore,
  Effect.map(OperationStore, (real) => OperationStore.of({ ...real, claimDue: () => Effect.succeed([]) }))
)

const none: Layer.Layer<never, never, TransferLedger | OperationStore> = Layer.empty

export const sabotaged = ({ sabotage }: World): Layer.Layer<never, never, TransferLedger | OperationStore> => {
  if (sabotage === "ledger forgets") return ledger as typeof none
  return sabotage === "never claims" ? (operations as typeof none) : none
}
