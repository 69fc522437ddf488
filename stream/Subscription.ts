/**
 * One client's position in a view. While it is up to date the view writes for it; while it is not, nothing waits for it
 * but its cursor: what it misses is read from the replay windows, which all clients share, whenever its socket has room
 * again.
 */
import { closeCodes } from "#domain/stream/Frame.ts"
import type { Outlet } from "#domain/stream/Outlet.ts"
import { encode } from "#stream/frames.ts"
import type { Passage, View } from "#stream/View.ts"

/** What a subscription reads when it is not up to date. */
export interface Past {
  readonly position: () => number
  /** The next part of the view's past; `undefined` when it is no longer whole. */
  readonly passage: (view: View, after: number) => Passage | undefined
  /** The latest of each asset that has changed after a sequence, as frames. */
  readonly latest: (view: View, after: number) => Uint8Array | undefined
  readonly snapshot: (view: View) => Uint8Array
}

/** Where a subscription writes, and how many bytes may wait there. */
interface Room {
  readonly outlet: Outlet
  readonly budget: number
}

export class Subscription {
  readonly view: View
  readonly #outlet: Outlet
  readonly #past: Past
  readonly #budget: number
  #cursor: number
  /** `resuming` replays every event whatever the feed; `behind` may skip where the feed allows it. */
  #state: "resuming" | "live" | "behind" | "ended" = "resuming"

  constructor(view: View, past: Past, { budget, outlet }: Room) {
    this.view = view
    this.#outlet = outlet
    this.#past = past
    this.#budget = budget
    this.#cursor = past.position()
  }

  /** Begins with a snapshot, or after a sequence that the client has seen. */
  begin(afterSequence: number | undefined): void {
    if (afterSequence === undefined) return this.#restart()
    if (afterSequence > this.#past.position()) return this.#restartAfterGap(afterSequence, "unknown")
    this.#cursor = afterSequence
    this.#advance()
  }

  /** Takes frames that follow `before` without a hole; a client whose socket is full stays where it was. */
  deliver(frames: Uint8Array, before: number): void {
    if (this.#outlet.pendingBytes() <= this.#budget) return this.#outlet.write(frames)
    this.#state = "behind"
    this.#cursor = before
    this.view.live.delete(this)
    this.#waitForRoom()
  }

  /** Sends a frame that has no position in the order. */
  send(frame: Uint8Array): void {
    if (this.#outlet.pendingBytes() <= this.#budget) this.#outlet.write(frame)
  }

  /** Events were lost on the way to this worker: the client begins anew. */
  breakOff(before: number): void {
    this.view.live.delete(this)
    this.#restartAfterGap(before, "window")
  }

  end(): void {
    this.#state = "ended"
    this.view.live.delete(this)
  }

  #waitForRoom(): void {
    this.#outlet.whenDrained(() => this.#advance())
  }

  #goLive(): void {
    this.#state = "live"
    this.view.live.add(this)
  }

  /** Writes what the socket has room for; ends up to date, or waiting for room. */
  #advance(): void {
    while (this.#state !== "ended") {
      if (this.#outlet.pendingBytes() > this.#budget) return this.#waitForRoom()
      if (this.#state === "behind" && this.view.isConflatable) return this.#skipToLatest()
      const passage = this.#past.passage(this.view, this.#cursor)
      if (passage === undefined) {
        if (this.#state === "resuming") return this.#restartAfterGap(this.#cursor, "window")
        this.end()
        return this.#outlet.close(closeCodes.tooSlow)
      }
      if (passage.bytes.length > 0) this.#outlet.write(passage.bytes)
      this.#cursor = passage.through
      if (passage.isLast) return this.#goLive()
    }
  }

  #restart(): void {
    this.#outlet.write(this.#past.snapshot(this.view))
    this.#goLive()
  }

  #restartAfterGap(afterSequence: number, reason: "window" | "unknown"): void {
    this.#outlet.write(encode({ v: 1, type: "gap", topic: this.view.topicName, afterSequence, reason }))
    this.#restart()
  }

  #skipToLatest(): void {
    const latest = this.#past.latest(this.view, this.#cursor)
    if (latest !== undefined) {
      const sequence = this.#past.position()
      const { topicName: topic } = this.view
      this.#outlet.write(encode({ v: 1, type: "skipped", topic, afterSequence: this.#cursor, sequence }))
      this.#outlet.write(latest)
    }
    this.#goLive()
  }
}
