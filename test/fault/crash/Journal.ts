/**
 * Maps that outlive the process that fills them: every change is a line of a file, and the next process reads them all.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import type { KeepMap } from "#test/support/chains/TestMarket.ts"

type Line = readonly [map: string, key: string | number, value?: unknown]

const bigint = "$bigint"

const write = (line: Line): string =>
  JSON.stringify(line, (_, value) => (typeof value === "bigint" ? { [bigint]: value.toString() } : value))

const read = (line: string): Line =>
  JSON.parse(line, (_, value) =>
    typeof value === "object" && value !== null && bigint in value ? BigInt(value[bigint]) : value
  )

class KeptMap<K extends string | number, V> extends Map<K, V> {
  readonly #append: (key: K, value?: V) => void

  constructor(append: (key: K, value?: V) => void, known: ReadonlyMap<K, V>) {
    super()
    this.#append = append
    for (const [key, value] of known) super.set(key, value)
  }

  override set(key: K, value: V): this {
    this.#append(key, value)
    return super.set(key, value)
  }

  override delete(key: K): boolean {
    this.#append(key)
    return super.delete(key)
  }
}

/** The maps of a file, which is made with the first change. Each name may be asked for once. */
export const journalOf = (file: string): KeepMap => {
  const known = new Map<string, Map<string | number, unknown>>()
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []
  for (const [name, key, value] of lines.map(read)) {
    const map = known.get(name) ?? new Map<string | number, unknown>()
    known.set(name, map)
    if (value === undefined) map.delete(key)
    else map.set(key, value)
  }
  return <K extends string | number, V>(name: string) =>
    new KeptMap<K, V>(
      (key, value) => appendFileSync(file, `${write(value === undefined ? [name, key] : [name, key, value])}\n`),
      (known.get(name) ?? new Map()) as Map<K, V>
    )
}
