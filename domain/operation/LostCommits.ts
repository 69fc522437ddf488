/**
 * Port: whether the database may lack commits that it had acknowledged, as a copy does that took over from a server
 * that crashed. What was signed after the last commit that it has may be on its way without a record.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"

/**
 * Whether commits may be lost.
 *
 * **When to use**
 *
 * Use in adapters of chains on which a transaction without a record may land beside another one. Where the chain takes
 * only one of both, `OperationTags` is asked without it.
 */
export class LostCommits extends Context.Service<
  LostCommits,
  {
    /**
     * Finds when commits may have been lost last, where some may be later than the time; one value for one loss. None:
     * the database has whatever it acknowledged since then.
     */
    readonly after: (time: DateTime.Utc) => Effect.Effect<Option.Option<DateTime.Utc>>
  }
>()("ballast/domain/operation/LostCommits") {}
