/**
 * What a statement does to which tables, read from its text, by the semantic conventions for databases: the name of its
 * operation, its table, and both of each of its parts as a summary. Values are parameters, so that there are as many
 * summaries as statements in the code.
 */

export interface StatementNames {
  /** One of few words, of the statement itself and not of what it begins `WITH`; all others are `_OTHER`. */
  readonly operation: string
  /** What is written to, or the one table that is read; undefined where several are, and where none is. */
  readonly table: string | undefined
  /** Operations and tables in their order, such as `INSERT runs SELECT schedules`. */
  readonly summary: string
}

const operations: ReadonlySet<string> = new Set(["SELECT", "INSERT", "UPDATE", "DELETE", "LOCK", "NOTIFY", "LISTEN"])

/** Words after which a name is that of a table: `FROM` and `JOIN` in any order, `UPDATE` but not in `FOR UPDATE`. */
const naming: ReadonlySet<string> = new Set(["FROM", "JOIN", "INTO", "UPDATE", "USING"])

/** Longest summary: the convention allows 255 characters. */
const longestSummary = 255

/** Text of any statement that is longer is not read to its end. */
const longestText = 20_000

/** Comments and text in quotes are passed over; a name in quotes, a word, a bracket or a comma. */
const token = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"([^"]+)"|([A-Za-z_][A-Za-z0-9_.]*)|([(),])/gu

interface Token {
  readonly text: string
  /** Word in capitals; empty for a name in quotes. */
  readonly word: string
  readonly depth: number
}

const tokensOf = (text: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  let depth = 0
  for (const [, quoted, word, mark] of text.slice(0, longestText).matchAll(token)) {
    if (quoted !== undefined) tokens.push({ text: quoted, word: "", depth })
    else if (word !== undefined) tokens.push({ text: word, word: word.toUpperCase(), depth })
    else if (mark !== undefined) {
      if (mark === ")") depth -= 1
      tokens.push({ text: mark, word: mark, depth })
      if (mark === "(") depth += 1
    }
  }
  return tokens
}

/** Tokens of a list of columns that is read to its end. */
const mostColumns = 64

/** Names that the statement gives its own parts, `WITH name AS (`, which are no tables. */
const partsOf = (tokens: ReadonlyArray<Token>): ReadonlySet<string> => {
  const parts = new Set<string>()
  tokens.forEach(({ text }, at) => {
    let after = at + 1
    // The columns of the part, in brackets.
    if (tokens[after]?.text === "(") {
      while (after < at + mostColumns && tokens[after]?.text !== ")") after += 1
      after += 1
    }
    if (tokens[after]?.word !== "AS") return
    do after += 1
    while (/^(NOT|MATERIALIZED)$/u.test(tokens[after]?.word ?? ""))
    if (tokens[after]?.text === "(" && operations.has(tokens[after + 1]?.word ?? "")) parts.add(text)
  })
  return parts
}

interface Part {
  readonly operation: string
  readonly depth: number
  readonly tables: Array<string>
}

export const statementNames = (text: string): StatementNames => {
  const tokens = tokensOf(text)
  const known = partsOf(tokens)
  const parts: Array<Part> = []
  tokens.forEach(({ depth, word }, at) => {
    const before = tokens[at - 1]?.word ?? ""
    // `FOR UPDATE` locks, `ON CONFLICT DO UPDATE` and `FOR NO KEY UPDATE` are of the operation before.
    const isOperation = operations.has(word) && !(word === "UPDATE" && /^(FOR|DO|KEY)$/u.test(before))
    if (isOperation) parts.push({ operation: word, depth, tables: [] })
    if (word === "UPDATE" ? !isOperation : !naming.has(word)) return
    const part = parts.findLast((one) => one.depth <= depth)
    const skipped = tokens[at + 1]?.word === "ONLY" ? at + 2 : at + 1
    const name = tokens[skipped]
    // A function that answers rows, a bracket and a keyword are no table.
    if (part === undefined || name === undefined || (tokens[skipped + 1]?.text === "(" && word !== "INTO")) return
    if (!/^[A-Za-z_][\w.]*$/u.test(name.text) || /^(SELECT|LATERAL|SET|SKIP|OF)$/u.test(name.word)) return
    if (!known.has(name.text) && !part.tables.includes(name.text)) part.tables.push(name.text)
  })
  const main = parts.find(({ depth }) => depth === 0)
  if (main === undefined) return { operation: "_OTHER", table: undefined, summary: "_OTHER" }
  const own = main.operation === "SELECT" && main.tables.length !== 1 ? undefined : main.tables[0]
  const summary = parts.map(({ operation, tables }) => [operation, ...tables].join(" ")).join(" ")
  return { operation: main.operation, table: own, summary: summary.slice(0, longestSummary) }
}

/** Texts that are kept with their names: far more than the code has. */
const mostKept = 2_000

/** Makes a reader of names that reads each text once. */
export const makeStatementNames = (): ((text: string) => StatementNames) => {
  const kept = new Map<string, StatementNames>()
  return (text) => {
    const found = kept.get(text)
    if (found !== undefined) return found
    if (kept.size >= mostKept) kept.clear()
    const names = statementNames(text)
    kept.set(text, names)
    return names
  }
}
