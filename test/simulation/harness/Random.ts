/**
 * Chance of a simulation: the same numbers for the same seed. Xoshiro128**, whose state splitmix32 fills. Not for
 * anything that must be hard to guess.
 */

const rotl = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits))

/** Spreads the bits of a seed, so that neighbouring seeds have nothing in common. */
const splitmix32 = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

export class Random {
  readonly #seed: number
  readonly #state: Uint32Array

  constructor(seed: number) {
    this.#seed = seed
    const next = splitmix32(seed)
    this.#state = Uint32Array.from([next(), next(), next(), next()])
  }

  /** A stream of its own for one purpose: what others draw does not change it. */
  fork(purpose: string): Random {
    return new Random((Math.imul(this.#seed, 0x01000193) ^ hashOf(purpose)) >>> 0)
  }

  /** 32 bits. */
  next(): number {
    const [a, b, c, d] = this.#state as unknown as [number, number, number, number]
    const result = Math.imul(rotl(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    const [c1, d1] = [c ^ a, d ^ b]
    this.#state.set([a ^ d1, b ^ c1, c1 ^ shifted, rotl(d1, 11)])
    return result
  }

  /** Draws from 0 to below 1. */
  unit(): number {
    return this.next() / 2 ** 32
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.unit() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.unit() < probability
  }

  pick<A>(items: ReadonlyArray<A>): A {
    const item = items[this.between(0, items.length - 1)]
    if (item === undefined) throw new Error("There is nothing to pick from")
    return item
  }

  /** One of the values, each as likely as its weight says. */
  weighted<A>(items: ReadonlyArray<readonly [weight: number, value: A]>): A {
    let left = this.unit() * items.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of items) if ((left -= weight) < 0) return value
    return items.at(-1)![1]
  }

  bytes(size: number): Uint8Array {
    return Uint8Array.from({ length: size }, () => this.next() & 0xff)
  }
}
