/**
 * Substring search over short texts: all of them as one string, which the engine scans at memory speed. What is
 * searched for is characters, never a pattern. A text with few hits costs one pass over the string; one with many ends
 * when the caller has enough, after a few passes at most.
 */

/** Separators before a symbol, before a name, and after an entry. None of them is in any text. */
const beforeSymbol = "\u0001"
const beforeName = "\u0002"
const afterEntry = "\u0000"
const separators = /[\u0000-\u0002]/gu

/** Folds a text for comparison: without regard to case. */
export const folded = (text: string): string => text.toLowerCase().replaceAll(separators, " ")

export interface Searchable {
  /** Ticker and symbols, folded: what people type most. */
  readonly symbols: ReadonlyArray<string>
  /** Folded. */
  readonly name: string
}

/**
 * How well an entry that contains the text fits: 0 the whole symbol, its beginning, the name's beginning, a word's, 4
 * anywhere.
 */
const tierOf = ({ name, symbols }: Searchable, query: string, word: string): number => {
  if (symbols.includes(query)) return 0
  if (symbols.some((symbol) => symbol.startsWith(query))) return 1
  if (name.startsWith(query)) return 2
  return name.includes(word) || symbols.some((symbol) => symbol.includes(word)) ? 3 : 4
}

/** Most hits that are ordered by themselves; more are found in order. */
const fewHits = 512

/** Entries are added one by one, in the order in which they are found among alike. */
export const textIndexBuilder = (few = fewHits) => {
  const entries: Array<Searchable> = []
  const starts: Array<number> = []
  const bySymbol = new Map<string, Array<number>>()
  const parts: Array<string> = []
  let length = 0
  return {
    add: (entry: Searchable): void => {
      const position = entries.push(entry) - 1
      const { name, symbols } = entry
      starts.push(length)
      const text = `${symbols.map((symbol) => `${beforeSymbol}${symbol}`).join("")}${beforeName}${name}${afterEntry}`
      parts.push(text)
      length += text.length
      for (const symbol of symbols) {
        const positions = bySymbol.get(symbol)
        if (positions === undefined) bySymbol.set(symbol, [position])
        else positions.push(position)
      }
    },
    done: () => searching({ entries, starts: Int32Array.from(starts), bySymbol, all: parts.join(""), few })
  }
}

export const makeTextIndex = (entries: Iterable<Searchable>, few = fewHits): TextIndex => {
  const builder = textIndexBuilder(few)
  for (const entry of entries) builder.add(entry)
  return builder.done()
}

export interface TextIndex {
  /**
   * Positions of the entries that contain the text, each once: those with the whole symbol, its beginning, the name's
   * beginning, a word's beginning, and the text anywhere; among alike in the order of the entries.
   */
  readonly find: (text: string) => Generator<number>
}

interface Texts {
  readonly entries: ReadonlyArray<Searchable>
  /** Start of each entry in `all`. */
  readonly starts: Int32Array
  /** Positions of the entries with a symbol. */
  readonly bySymbol: ReadonlyMap<string, ReadonlyArray<number>>
  readonly all: string
  readonly few: number
}

const searching = ({ all, bySymbol, entries, few, starts }: Texts): TextIndex => {
  /** The last entry that starts at or before an offset; it is `from` or one after it. */
  const positionAt = (offset: number, from: number): number => {
    let low = from
    if (low + 1 >= entries.length || starts[low + 1]! > offset) return low
    let high = entries.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Positions of the entries that contain the needle, in order. */
  function* containing(needle: string): Generator<number> {
    let position = 0
    for (let at = all.indexOf(needle); at !== -1; at = all.indexOf(needle, starts[position])) {
      position = positionAt(at, position)
      yield position
      position += 1
      if (position >= entries.length) return
    }
  }

  return {
    find: function* (text: string): Generator<number> {
      const query = text.toLowerCase()
      if (query === "" || query !== folded(query)) return
      const hits: Array<number> = []
      for (const position of containing(query)) {
        hits.push(position)
        if (hits.length > few) break
      }
      if (hits.length <= few) {
        const word = ` ${query}`
        const tiers: Array<Array<number>> = [[], [], [], [], []]
        for (const position of hits) tiers[tierOf(entries[position]!, query, word)]!.push(position)
        yield* tiers.flat()
        return
      }
      const seen = new Set<number>()
      const tiers = [
        bySymbol.get(query) ?? [],
        containing(`${beforeSymbol}${query}`),
        containing(`${beforeName}${query}`),
        containing(` ${query}`),
        containing(query)
      ]
      for (const tier of tiers) {
        for (const position of tier) {
          if (seen.has(position)) continue
          seen.add(position)
          yield position
        }
      }
    }
  }
}
