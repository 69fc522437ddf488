/** Sleepers by the time at which they wake: a binary heap, so a thousand sleeping fibers cost no scan. */

export interface Sleeper {
  /** Unix time in milliseconds; may have a fraction. */
  readonly wakeAt: number
  readonly wake: () => void
}

interface Entry extends Sleeper {
  index: number
}

export class WakeQueue {
  readonly #heap: Array<Entry> = []

  /** The earliest wake-up time, or `undefined` when nothing sleeps. */
  get next(): number | undefined {
    return this.#heap[0]?.wakeAt
  }

  /** Adds a sleeper; the answer takes it out again before its time. */
  add(sleeper: Sleeper): () => void {
    const entry: Entry = { ...sleeper, index: this.#heap.length }
    this.#heap.push(entry)
    this.#rise(entry)
    return () => this.#remove(entry)
  }

  /** Takes out, earliest first, everyone whose time has come. */
  *due(now: number): Generator<Sleeper> {
    for (let first = this.#heap[0]; first !== undefined && first.wakeAt <= now; first = this.#heap[0]) {
      this.#remove(first)
      yield first
    }
  }

  #remove(entry: Entry): void {
    const { index } = entry
    if (this.#heap[index] !== entry) return
    const last = this.#heap.pop()!
    if (last === entry) return
    this.#put(last, index)
    this.#rise(last)
    this.#sink(last)
  }

  #put(entry: Entry, index: number): void {
    this.#heap[index] = entry
    entry.index = index
  }

  #swap(a: Entry, b: Entry): void {
    const { index } = a
    this.#put(a, b.index)
    this.#put(b, index)
  }

  #rise(entry: Entry): void {
    while (entry.index > 0) {
      const parent = this.#heap[(entry.index - 1) >> 1]!
      if (parent.wakeAt <= entry.wakeAt) return
      this.#swap(entry, parent)
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const left = this.#heap[2 * entry.index + 1]
      const right = this.#heap[2 * entry.index + 2]
      const child = right !== undefined && right.wakeAt < left!.wakeAt ? right : left
      if (child === undefined || entry.wakeAt <= child.wakeAt) return
      this.#swap(entry, child)
    }
  }
}
