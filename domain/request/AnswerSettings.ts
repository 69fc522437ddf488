/** Bounds of what one request may ask for. Filled from the environment by src/Config.ts. */
import { Context, Duration } from "effect"

/**
 * How long an answer may take, and how much one message may ask for.
 *
 * **When to use**
 *
 * Use where requests and calls of procedures are answered. Bounds of streams are `StreamSettings`.
 */
export const AnswerSettings = Context.Reference("ballast/domain/request/AnswerSettings", {
  defaultValue: () => ({
    /** Time until an answer that is no stream has begun. */
    longest: Duration.seconds(60),
    /** Calls of procedures in one message, over Effect's RPC. */
    maxCalls: 100
  })
})
