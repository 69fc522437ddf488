/**
 * The latest events of one asset, at most `capacity` of them, in the order of their sequences.
 *
 * `completeAfter` is the sequence after which the window has every event of the asset: those up to it were pushed out,
 * or happened before this window was there. To resume after an earlier sequence would skip events, so that is refused.
 */
export class ReplayWindow<Event extends { readonly sequence: number }> {
  readonly #capacity: number
  /** A ring: the oldest is at `#start` once it is full. */
  readonly #events: Array<Event> = []
  #start = 0
  #completeAfter: number

  constructor(capacity: number, completeAfter: number) {
    this.#capacity = capacity
    this.#completeAfter = completeAfter
  }

  get completeAfter(): number {
    return this.#completeAfter
  }

  get size(): number {
    return this.#events.length
  }

  get latest(): Event | undefined {
    return this.#events.length === 0 ? undefined : this.#at(this.#events.length - 1)
  }

  /** Adds an event. One that is not above the latest is refused with `false`: the window already accounts for it. */
  push(event: Event): boolean {
    if (event.sequence <= Math.max(this.latest?.sequence ?? 0, this.#completeAfter)) return false
    if (this.#events.length < this.#capacity) {
      this.#events.push(event)
      return true
    }
    this.#completeAfter = this.#events[this.#start]!.sequence
    this.#events[this.#start] = event
    this.#start = (this.#start + 1) % this.#capacity
    return true
  }

  /** Drops everything up to and with `sequence`, because what came before it is incomplete. */
  restart(sequence: number): void {
    this.#events.length = 0
    this.#start = 0
    this.#completeAfter = sequence
  }

  /**
   * Returns at most `limit` events above `sequence`, the oldest first; `undefined` when the window no longer has them
   * all.
   */
  after(sequence: number, limit: number): ReadonlyArray<Event> | undefined {
    if (sequence < this.#completeAfter) return undefined
    const first = this.#firstAbove(sequence)
    const end = Math.min(this.#events.length, first + limit)
    return Array.from({ length: end - first }, (_, index) => this.#at(first + index))
  }

  #at(index: number): Event {
    return this.#events[(this.#start + index) % this.#events.length]!
  }

  #firstAbove(sequence: number): number {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#at(middle).sequence > sequence) high = middle
      else low = middle + 1
    }
    return low
  }
}
