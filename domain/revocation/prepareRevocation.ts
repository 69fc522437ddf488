/**
 * Decides what to do next about a revocation on one chain, from the state of the chain. Nothing is sent; may be
 * repeated.
 */
import { Effect, Schema } from "effect"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import type { StepOf } from "#domain/relay/ActionStep.ts"
import { PreparedTransaction } from "#domain/relay/Transaction.ts"
import type { RevocationTransactions, SignedRevocation } from "#domain/revocation/RevocationTransactions.ts"

/** What preparing a revocation may come to. */
export const revocationSteps = {
  ready: Schema.TaggedStruct("Ready", { prepared: PreparedTransaction }),
  /** No earlier permission is valid on the chain any more, by our transaction or another one. */
  last: Schema.TaggedStruct("Ended", {})
}
export type RevocationStep = StepOf<typeof revocationSteps>

export const prepareRevocation = (execution: RevocationTransactions["Service"]) =>
  Effect.fn("prepareRevocation")(
    function* (signed: SignedRevocation, chain: ChainRevocation) {
      if (yield* execution.hasEnded(chain)) return { _tag: "Ended" } satisfies RevocationStep
      return { _tag: "Ready", prepared: yield* execution.prepare(signed, chain) } satisfies RevocationStep
    },
    // The chain does not answer, or gas costs too much.
    Effect.catchTags({
      ChainUnavailable: ({ message }) => Effect.succeed<RevocationStep>({ _tag: "Waiting", reason: message }),
      SimulationFailed: ({ reason }) => Effect.succeed<RevocationStep>({ _tag: "Refused", reason })
    })
  )
