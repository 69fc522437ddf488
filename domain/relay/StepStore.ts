/** Port: how long unfinished work has stood where it stands; for metrics and readiness. */
import { Context, type DateTime, type Effect, type Option } from "effect"

export interface OldestSteps {
  /** Since when the operation that has waited longest to begin or to get on does so: nothing outside explains it. */
  readonly moving: Option.Option<DateTime.Utc>
  /** Since when the one that has longest waited for a chain in `retrying` does so. */
  readonly retrying: Option.Option<DateTime.Utc>
}

/**
 * How long unfinished work has stood.
 *
 * **When to use**
 *
 * Use for metrics and readiness.
 */
export class StepStore extends Context.Service<StepStore, { readonly oldest: Effect.Effect<OldestSteps> }>()(
  "ballast/domain/relay/StepStore"
) {}
