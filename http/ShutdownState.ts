/**
 * Tells answers that go on for as long as a client likes that the server is about to end. They end then, whole, and the
 * client goes on elsewhere; an answer that is short is finished by the server itself.
 */
import { Context, Deferred, Effect, Layer } from "effect"

export class ShutdownState extends Context.Service<
  ShutdownState,
  {
    readonly begin: Effect.Effect<void>
    /** Answers when the server begins to end. */
    readonly begun: Effect.Effect<void>
  }
>()("ballast/http/ShutdownState") {
  static readonly layer = Layer.sync(ShutdownState, () => {
    const begun = Deferred.makeUnsafe<void>()
    return { begin: Effect.asVoid(Deferred.succeed(begun, undefined)), begun: Deferred.await(begun) }
  })
}
