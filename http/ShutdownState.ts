/**
 * Signals to streams that the server is about to end. They end then, whole, and the client goes on elsewhere; an answer
 * that is short is finished by the server itself.
 */
import { Context, Effect, Layer } from "effect"

export class ShutdownState extends Context.Service<
  ShutdownState,
  {
    readonly begin: Effect.Effect<void>
    /** Answers when the server begins to end. */
    readonly begun: Effect.Effect<void>
    /**
     * Calls back once when the server begins to end, or immediately when it has begun. Returns how to cancel that. For
     * callers in the thousands: it needs no fiber.
     */
    readonly onBegun: (callback: () => void) => () => void
  }
>()("ballast/http/ShutdownState") {
  static readonly layer = Layer.sync(ShutdownState, () => {
    const callbacks = new Set<() => void>()
    let isBegun = false

    const begin = Effect.sync(() => {
      isBegun = true
      for (const callback of callbacks) callback()
      callbacks.clear()
    })

    const onBegun = (callback: () => void) => {
      // One of its own, so that a function that is given twice is called off once.
      const own = () => callback()
      if (isBegun) own()
      else callbacks.add(own)
      return () => void callbacks.delete(own)
    }

    const begun = Effect.callback<void>((resume) => {
      const callOff = onBegun(() => resume(Effect.void))
      return Effect.sync(callOff)
    })

    return ShutdownState.of({ begin, begun, onBegun })
  })
}
