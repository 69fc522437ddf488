/**
 * Keeps every unit of a portfolio at every moment, and so its time-weighted return: it closes a period at each cash
 * flow, when it happens. It counts in floating point and without valuations.
 */
export interface Held {
  raw: bigint
  readonly decimals: number
  priceUsd: number
}

export class UnitOracle {
  /** Holdings by any name; what is on its way has one too. */
  readonly held = new Map<string, Held>()
  /** Net cash that came in, each at the prices of its moment. */
  flowsUsd = 0
  #index = 1
  #sinceUsd = 0

  get valueUsd(): number {
    return [...this.held.values()].reduce(
      (sum, { decimals, priceUsd, raw }) => sum + (Number(raw) / 10 ** decimals) * priceUsd,
      0
    )
  }

  get index(): number {
    return this.#sinceUsd > 0 ? this.#index * (this.valueUsd / this.#sinceUsd) : this.#index
  }

  raw(name: string): bigint {
    return this.held.get(name)!.raw
  }

  /** Changes what is held by trade, transfer or price: all change of value is return. */
  move(name: string, raw: bigint): void {
    this.held.get(name)!.raw += raw
  }

  /** Changes what is held by cash that comes in or goes out: no return. */
  flow(name: string, raw: bigint): void {
    this.#index = this.index
    const before = this.valueUsd
    this.move(name, raw)
    this.#sinceUsd = this.valueUsd
    this.flowsUsd += this.#sinceUsd - before
  }
}
