/** Port: how old unfinished work is; for metrics and readiness. */
import { Context, type DateTime, type Effect, type Option } from "effect"

/**
 * Times at which the oldest unfinished operation of each kind was accepted, or went on after it had waited for its
 * owner: an operation that changes between states does not grow younger by it.
 */
export interface OldestSteps {
  /** Operations that are accepted or running: nothing outside explains why they are not finished. */
  readonly moving: Option.Option<DateTime.Utc>
  /** Operations that wait for a chain, in `retrying`. */
  readonly retrying: Option.Option<DateTime.Utc>
}

/**
 * How old unfinished work is.
 *
 * **When to use**
 *
 * Use for metrics and readiness.
 */
export class StepStore extends Context.Service<StepStore, { readonly oldest: Effect.Effect<OldestSteps> }>()(
  "ballast/domain/operation/StepStore"
) {}
