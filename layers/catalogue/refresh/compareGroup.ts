/** Compares a source's list of a group's tokens with the catalogue. Pure. */
import type { SourceToken, SourceRead } from "#layers/catalogue/refresh/SourceRead.ts"
import type { TokenGroup, TokenRow } from "#layers/catalogue/TokenFile.ts"

export interface FieldChange {
  readonly token: TokenRow
  readonly field: "subject" | "symbol"
  readonly from: string
  readonly to: string
}

export interface GroupChange {
  readonly group: TokenGroup
  /** The group as it comes to be; the same as before when the change is refused. */
  readonly next: TokenGroup
  readonly added: ReadonlyArray<TokenRow>
  readonly removed: ReadonlyArray<TokenRow>
  readonly changed: ReadonlyArray<FieldChange>
  /** What the source lists and is not accepted, or what could not be decided, one line each. */
  readonly notes: ReadonlyArray<string>
  /** Tickers of tokens whose share is not in the catalogue. */
  readonly unknownTickers: ReadonlyArray<string>
  /** Why nothing of this group is taken. */
  readonly refusal: string | null
}

export interface ComparedWith {
  /** Whether the catalogue has a subject of this ticker. */
  readonly isShare: (ticker: string) => boolean
  /** The tokens of other groups, as `chain/address`. */
  readonly elsewhere: ReadonlySet<string>
  /** `YYYY-MM-DD`. */
  readonly today: string
  /** Most of a group's tokens that may vanish in one refresh, in percent. */
  readonly maxRemovedPercent: number
}

/** The one number of decimals of a group's tokens; null when they differ. */
const commonDecimals = ({ tokens }: TokenGroup): number | null => {
  const [first, ...others] = new Set(tokens.map(([, , decimals]) => decimals))
  return first === undefined || others.length > 0 ? null : first
}

/** Shares are in the order of their tickers; everything else in the order in which it was written. */
const ordered = (group: TokenGroup, tokens: ReadonlyArray<TokenRow>) =>
  group.subjects === "currencies" ? tokens : tokens.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

export const compareGroup = (group: TokenGroup, read: SourceRead, against: ComparedWith): GroupChange => {
  const { elsewhere, isShare, maxRemovedPercent, today } = against
  const said = new Map(read.tokens.filter(({ chain }) => chain === group.chain).map((token) => [token.address, token]))
  const notes: Array<string> = []
  const changed: Array<FieldChange> = []
  const unknownTickers = new Set<string>()

  const kept = group.tokens.flatMap((token): ReadonlyArray<TokenRow> => {
    const [subject, symbol, decimals, address] = token
    const now = said.get(address)
    if (now === undefined) return []
    if (now.decimals !== null && now.decimals !== decimals) {
      notes.push(
        `${symbol} ${address}: ${decimals} decimals here, ${now.decimals} there; kept, since they never change`
      )
    }
    const isOther = group.subjects === "shares" && now.ticker !== null && now.ticker !== subject
    if (isOther && !isShare(now.ticker)) {
      notes.push(
        `${symbol} ${address}: stands for ${subject} here, for ${now.ticker} there, which has no subject; kept`
      )
    }
    const subjectNow = isOther && isShare(now.ticker) ? now.ticker : subject
    if (subjectNow !== subject) changed.push({ token, field: "subject", from: subject, to: subjectNow })
    if (now.symbol !== symbol) changed.push({ token, field: "symbol", from: symbol, to: now.symbol })
    const isSame = subjectNow === subject && now.symbol === symbol
    return [isSame ? token : [subjectNow, now.symbol, decimals, address, today]]
  })

  const subjectsHere = new Set(kept.map(([subject]) => subject))
  const toRow = ({ address, decimals: listed, symbol, ticker }: SourceToken): ReadonlyArray<TokenRow> => {
    const isHere = group.tokens.some(([, , , known]) => known === address)
    // A list that several groups are read from names the tokens of the others too.
    if (ticker === null || isHere || elsewhere.has(`${group.chain}/${address}`)) return []
    if (!isShare(ticker)) {
      unknownTickers.add(ticker)
      return []
    }
    if (subjectsHere.has(ticker)) {
      notes.push(`${symbol} ${address}: another token of ${ticker} is here; not added`)
      return []
    }
    const decimals = listed ?? commonDecimals(group)
    if (decimals !== null) return [[ticker, symbol, decimals, address, today]]
    notes.push(`${symbol} ${address}: its decimals are not known; not added`)
    return []
  }
  const candidates = group.subjects === "shares" ? [...said.values()].flatMap(toRow) : []
  const twice = new Set(
    [...Map.groupBy(candidates, ([subject]) => subject)].flatMap(([subject, rows]) =>
      rows.length > 1 ? [subject] : []
    )
  )
  for (const subject of twice) notes.push(`${subject}: several new tokens claim to be it; not added`)
  const added = candidates.filter(([subject]) => !twice.has(subject))

  const missing = group.tokens.filter(([, , , address]) => !said.has(address))
  const isWhole = read.unreadable === 0
  if (!isWhole && missing.length > 0) {
    notes.push(
      `${missing.length} tokens are not in the answer, of which ${read.unreadable} rows were not readable; they are kept`
    )
  }
  const removed = isWhole ? missing : []
  const refusal =
    removed.length * 100 > group.tokens.length * maxRemovedPercent
      ? `${removed.length} of ${group.tokens.length} tokens would vanish, more than ${maxRemovedPercent} percent; nothing of this list is taken. If that is right: --max-removed ${Math.ceil((removed.length * 100) / group.tokens.length)}`
      : null
  const tokens = isWhole
    ? [...kept, ...added]
    : [...group.tokens.map((row) => kept.find(([, , , at]) => at === row[3]) ?? row), ...added]
  const next =
    refusal === null
      ? { ...group, source: { ...group.source, what: read.what, asOf: today }, tokens: ordered(group, tokens) }
      : group
  return { group, next, added, removed, changed, notes, unknownTickers: [...unknownTickers], refusal }
}
