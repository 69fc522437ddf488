/** What happened in a simulation, in order: a hash over all of it, and the latest lines for people. */
import { createHash, type Hash } from "node:crypto"

const kept = 120

export class Trace {
  readonly #hash: Hash = createHash("sha256")
  readonly #latest: Array<string> = []
  readonly #now: () => number
  readonly #print: ((line: string) => void) | undefined
  readonly #startedAt: number
  /** How often each kind of thing happened. */
  readonly counts = new Map<string, number>()

  /** `now` is the virtual time; `print` gets every line. */
  constructor(now: () => number, print?: (line: string) => void) {
    this.#now = now
    this.#print = print
    this.#startedAt = now()
  }

  /** The virtual time since the start, as days and time of day. */
  get elapsed(): string {
    const ms = this.#now() - this.#startedAt
    return `${Math.floor(ms / 86_400_000)}d ${new Date(ms % 86_400_000).toISOString().slice(11, 23)}`
  }

  /** `kind` is counted, `detail` is not. */
  note(kind: string, detail = ""): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
    const line = `${this.elapsed}  ${kind}${detail === "" ? "" : `  ${detail}`}`
    this.#hash.update(line).update("\n")
    this.#print?.(line)
    this.#latest.push(line)
    if (this.#latest.length > kept) this.#latest.shift()
  }

  latest(count: number): ReadonlyArray<string> {
    return this.#latest.slice(-count)
  }

  /** Equal for two simulations in which the same things happened at the same times. */
  digest(): string {
    return this.#hash.copy().digest("hex")
  }
}
