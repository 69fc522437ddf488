/**
 * The harness of a simulation: its time, future events, and the processes. One thing happens at a time;
 * time moves only when no process has anything to do.
 */
import { WakeQueue } from "#layers/clock/WakeQueue.ts"
import type { Process } from "#test/simulation/harness/Process.ts"

export class Harness {
  readonly processes: Array<Process> = []
  readonly #events = new WakeQueue()
  #order = 0
  /** Unix time in milliseconds. */
  now: number

  constructor(now: number) {
    this.now = now
  }

  at(time: number, run: () => void): void {
    // A heap keeps no order among equals, and the order must not depend on the heap.
    this.#order += 1
    this.#events.add({ wakeAt: Math.max(time, this.now) + this.#order * 1e-9, wake: run })
  }

  after(ms: number, run: () => void): void {
    this.at(this.now + ms, run)
  }

  /** Time of the next event that does not depend on a process. */
  get nextEventAt(): number | undefined {
    const { next } = this.#events
    return next === undefined ? undefined : Math.floor(next)
  }

  /** Time at which the next fiber of a living process wakes. */
  get nextWakeAt(): number | undefined {
    const times = this.processes.flatMap(({ wakesAt }) => (wakesAt === undefined ? [] : [wakesAt]))
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Moves to a time, through every event that happens by then. */
  moveTo(time: number): void {
    for (let next = this.nextEventAt; next !== undefined && next <= time; next = this.nextEventAt) {
      this.now = Math.max(this.now, next)
      for (const event of this.#events.due(this.now + 0.999)) {
        event.wake()
        break
      }
    }
    this.now = Math.max(this.now, time)
  }
}
