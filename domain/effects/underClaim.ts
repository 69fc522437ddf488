/**
 * Work under a claim that is stored. Whoever sent the request may go away at any moment, also while the claim is being
 * stored: what has been claimed is worked on and kept, or it is released.
 */
import { Effect, Exit } from "effect"

interface Claim<S> {
  /** Stores the claim; runs to its end once it has begun. */
  readonly claim: Effect.Effect<S>
  /** Nothing where the claim is another's, or has an outcome. */
  readonly release: Effect.Effect<void>
}

/** `use` may be interrupted unless it says otherwise; a claim whose use did not succeed is released. */
export const underClaim =
  <S extends { readonly _tag: string }>({ claim, release }: Claim<S>) =>
  <Use extends Effect.Effect<unknown, unknown, unknown>>(use: (state: S) => Use): Use =>
    Effect.uninterruptibleMask((restore) =>
      // Whether one that failed is stored is not known.
      Effect.flatMap(
        Effect.onError(claim, () => release),
        (state) =>
          state._tag === "Claimed"
            ? Effect.onExit(restore(use(state)), (exit) => (Exit.isSuccess(exit) ? Effect.void : release))
            : restore(use(state))
      )
    ) as Use
