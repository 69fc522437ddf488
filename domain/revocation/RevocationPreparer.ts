/**
 * Decides what to do next about a revocation on one chain, from the state of the chain. Nothing is sent; may be
 * repeated.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { RevocationExecution, type SignedRevocation } from "#domain/revocation/RevocationExecution.ts"

export const RevocationStep = Schema.Union([
  /** Ready to be signed by the relayer. */
  Schema.TaggedStruct("Ready", { prepared: PreparedTransaction }),
  /** No earlier permission is valid on the chain any more, by our transaction or another one. */
  Schema.TaggedStruct("Ended", {}),
  /** The chain does not answer, or gas costs too much. */
  Schema.TaggedStruct("Waiting", { reason: Schema.String }),
  /** It would not succeed as things stand. */
  Schema.TaggedStruct("Refused", { reason: Schema.String })
])
export type RevocationStep = typeof RevocationStep.Type

/**
 * The next thing to do about a revocation on one chain.
 *
 * **When to use**
 *
 * Use inside `RevocationRun`, again after each attempt.
 */
export class RevocationPreparer extends Context.Service<
  RevocationPreparer,
  { readonly next: (signed: SignedRevocation, chain: ChainRevocation) => Effect.Effect<RevocationStep> }
>()("ballast/domain/revocation/RevocationPreparer") {
  static readonly layer = Layer.effect(
    RevocationPreparer,
    Effect.gen(function* () {
      const execution = yield* RevocationExecution

      const decide = Effect.fnUntraced(function* (signed: SignedRevocation, chain: ChainRevocation) {
        if (yield* execution.hasEnded(chain)) return { _tag: "Ended" } satisfies RevocationStep
        return { _tag: "Ready", prepared: yield* execution.prepare(signed, chain) } satisfies RevocationStep
      })

      const next = Effect.fn("RevocationPreparer.next")((signed: SignedRevocation, chain: ChainRevocation) =>
        decide(signed, chain).pipe(
          Effect.map((step): RevocationStep => step),
          Effect.catchTags({
            ChainUnavailable: ({ message }) => Effect.succeed<RevocationStep>({ _tag: "Waiting", reason: message }),
            SimulationFailed: ({ reason }) => Effect.succeed<RevocationStep>({ _tag: "Refused", reason })
          })
        )
      )

      return RevocationPreparer.of({ next })
    })
  )
}
