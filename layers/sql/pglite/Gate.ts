/**
 * Lets one holder in at a time, in the order of arrival. PGlite is a single session: a transaction on it must finish
 * before another caller may send a query.
 */
export class Gate {
  #holder: object | undefined
  readonly #waiting: Array<{ readonly holder: object; readonly admit: () => void }> = []

  /** Resolves when `holder` is inside. Entering again while inside is immediate. */
  enter(holder: object): Promise<void> {
    if (this.#holder === undefined) this.#holder = holder
    if (this.#holder === holder) return Promise.resolve()
    return new Promise((admit) => this.#waiting.push({ holder, admit }))
  }

  /** Lets the next one in. Without effect when `holder` is not inside. */
  leave(holder: object): void {
    if (this.#holder !== holder) return
    const next = this.#waiting.shift()
    this.#holder = next?.holder
    next?.admit()
  }

  isHeldBy(holder: object): boolean {
    return this.#holder === holder
  }
}
