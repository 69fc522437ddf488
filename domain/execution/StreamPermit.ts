/** That a stream may be open: until its holder's key, session or tenant may no longer. */
import { Effect } from "effect"
import type { AccessEnded } from "#domain/identity/access/StandingAccess.ts"

/** The permission of one stream that was let in. */
export class StreamPermit {
  readonly #callbacks = new Set<(why: AccessEnded) => void>()
  #why: AccessEnded | undefined

  /** The holder may follow no longer. Only the first reason counts. */
  end(why: AccessEnded): void {
    if (this.#why !== undefined) return
    this.#why = why
    for (const callback of this.#callbacks) callback(why)
    this.#callbacks.clear()
  }

  /**
   * Calls back once with why the stream may be open no longer, or immediately where that has happened. Returns how to
   * cancel that. It needs no fiber.
   */
  onEnd(callback: (why: AccessEnded) => void): () => void {
    if (this.#why !== undefined) callback(this.#why)
    else this.#callbacks.add(callback)
    return () => void this.#callbacks.delete(callback)
  }

  /** Fails when the stream may be open no longer, with why. */
  readonly ended: Effect.Effect<never, AccessEnded> = Effect.callback<never, AccessEnded>((resume) => {
    const callOff = this.onEnd((why) => resume(Effect.fail(why)))
    return Effect.sync(callOff)
  })
}
