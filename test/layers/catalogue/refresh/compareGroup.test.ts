/** Tests when an answer of a source changes the catalogue, and when it does not. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type ComparedWith, compareGroup } from "#layers/catalogue/refresh/compareGroup.ts"
import type { SourceToken, SourceRead } from "#layers/catalogue/refresh/SourceRead.ts"
import type { TokenGroup } from "#layers/catalogue/TokenFile.ts"

const chain = "eip155:1"
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`
const shares = ["AAPL", "MSFT", "NVDA", "TSLA", "SPY", "QQQ", "COIN", "META", "AMZN", "NFLX"]
const against: ComparedWith = {
  isShare: (ticker) => shares.includes(ticker),
  elsewhere: new Set([`${chain}/${addressOf(99)}`]),
  today: "2026-12-01",
  maxRemovedPercent: 10
}

const groupOf = (tickers: ReadonlyArray<string>): TokenGroup => ({
  chain,
  issuer: "ondo",
  unitModel: "accruing",
  subjects: "shares",
  source: { reader: "ondo", what: "the issuer's token list", asOf: "2026-11-21" },
  tokens: tickers.map((ticker) => [ticker, `${ticker}on`, 18, addressOf(shares.indexOf(ticker) + 1), "2026-11-21"])
})
const said = (ticker: string, over: Partial<SourceToken> = {}): SourceToken => ({
  chain,
  address: addressOf(shares.indexOf(ticker) + 1),
  symbol: `${ticker}on`,
  decimals: 18,
  ticker,
  ...over
})
const readOf = (tokens: ReadonlyArray<SourceToken>, unreadable = 0): SourceRead => ({
  what: "the issuer's token list",
  tokens,
  unreadable
})
const compared = (group: TokenGroup, read: SourceRead, over: Partial<ComparedWith> = {}) =>
  compareGroup(group, read, { ...against, ...over })
const subjectsOf = ({ tokens }: TokenGroup) => tokens.map(([subject]) => subject)

describe("what a source says anew", () => {
  it("the same answer changes no token, and keeps the days on which they came", () => {
    const group = groupOf(shares)
    const change = compared(group, readOf(shares.map((ticker) => said(ticker))))
    assert.deepStrictEqual(
      change.next.tokens,
      group.tokens.toSorted(([a], [b]) => (a < b ? -1 : 1))
    )
    assert.deepStrictEqual([change.added, change.removed, change.changed, change.notes], [[], [], [], []])
    assert.strictEqual(change.next.source.asOf, "2026-12-01")
  })

  it("a new token of a share that we know is added, in its place and with the day", () => {
    const change = compared(groupOf(["AAPL", "TSLA"]), readOf(["TSLA", "AAPL", "META"].map((ticker) => said(ticker))))
    assert.deepStrictEqual(change.added, [["META", "METAon", 18, addressOf(8), "2026-12-01"]])
    assert.deepStrictEqual(subjectsOf(change.next), ["AAPL", "META", "TSLA"])
  })

  it("a token of a share that we do not know is named and left out", () => {
    const change = compared(groupOf(["AAPL"]), readOf([said("AAPL"), said("NEWT", { address: addressOf(50) })]))
    assert.deepStrictEqual(change.unknownTickers, ["NEWT"])
    assert.deepStrictEqual(change.added, [])
  })

  it("symbol and subject change field by field", () => {
    const change = compared(groupOf(["AAPL"]), readOf([said("AAPL", { symbol: "APPLEon", ticker: "META" })]))
    assert.deepStrictEqual(
      change.changed.map(({ field, from, to }) => [field, from, to]),
      [
        ["subject", "AAPL", "META"],
        ["symbol", "AAPLon", "APPLEon"]
      ]
    )
    assert.deepStrictEqual(change.next.tokens, [["META", "APPLEon", 18, addressOf(1), "2026-12-01"]])
  })

  it("other decimals are never taken", () => {
    const change = compared(groupOf(["AAPL"]), readOf([said("AAPL", { decimals: 6 })]))
    assert.match(change.notes.join(), /18 decimals here, 6 there; kept/)
    assert.strictEqual(change.next.tokens[0]![2], 18)
  })

  it("decimals that the source does not have are those of the list, where they are all alike", () => {
    const group = groupOf(["AAPL"])
    const answer = readOf([said("AAPL", { decimals: null }), said("META", { decimals: null })])
    assert.strictEqual(compared(group, answer).added[0]![2], 18)
    const mixed = { ...group, tokens: [...group.tokens, ["SPY", "SPYon", 8, addressOf(5), "2026-11-21"] as const] }
    const change = compared(mixed, readOf([...answer.tokens, said("SPY", { decimals: null })]))
    assert.deepStrictEqual(change.added, [])
    assert.match(change.notes.join(), /its decimals are not known/)
  })

  it("a second token of a share that is here, two that claim to be the same, and one of another list are not added", () => {
    const change = compared(
      groupOf(["AAPL"]),
      readOf([
        said("AAPL"),
        said("AAPL", { address: addressOf(60) }),
        said("META", { address: addressOf(61) }),
        said("META", { address: addressOf(62) }),
        said("SPY", { address: addressOf(99) })
      ])
    )
    assert.deepStrictEqual(change.added, [])
    assert.match(change.notes.join("\n"), /another token of AAPL is here/)
    assert.match(change.notes.join("\n"), /META: several new tokens claim to be it/)
  })

  it("one of ten may vanish, two may not unless it is said, and then nothing of the list is taken", () => {
    const without = (count: number) =>
      readOf([...shares.slice(count).map((ticker) => said(ticker)), said("NFLX", { symbol: "OTHER" })])
    const group = groupOf(shares)
    assert.strictEqual(compared(group, without(1)).next.tokens.length, 9)
    const refused = compared(group, without(2))
    assert.match(refused.refusal ?? "", /2 of 10 tokens would vanish.*--max-removed 20$/)
    assert.strictEqual(refused.next, group)
    assert.strictEqual(compared(group, without(2), { maxRemovedPercent: 20 }).next.tokens.length, 8)
    assert.strictEqual(compared(group, readOf([])).next, group)
  })

  it("where rows were not readable nothing vanishes", () => {
    const group = groupOf(shares)
    const change = compared(
      group,
      readOf(
        shares.slice(1).map((ticker) => said(ticker)),
        1
      ),
      { maxRemovedPercent: 100 }
    )
    assert.deepStrictEqual(change.removed, [])
    assert.deepStrictEqual(subjectsOf(change.next).toSorted(), shares.toSorted())
    assert.match(change.notes.join(), /1 tokens are not in the answer.*kept/)
  })

  it("lists of coins are picked by people: nothing is added to them", () => {
    const group: TokenGroup = { ...groupOf(["AAPL"]), subjects: "currencies" }
    const change = compared(group, readOf([said("AAPL", { ticker: "WAAPL" }), said("META")]))
    assert.deepStrictEqual(change.next.tokens, group.tokens)
    assert.deepStrictEqual(change.notes, [])
  })
})

describe("whatever a source says", () => {
  const answer = fc.record({
    here: fc.subarray(shares),
    unreadable: fc.constantFrom(0, 0, 1, 3),
    maxRemovedPercent: fc.integer({ min: 0, max: 100 }),
    tokens: fc.array(
      fc.record({
        chain: fc.constantFrom(chain, chain, "eip155:56"),
        address: fc.integer({ min: 1, max: 14 }).map(addressOf),
        symbol: fc.constantFrom("AAPLon", "METAon", "X"),
        decimals: fc.constantFrom(18, 18, 6, null),
        ticker: fc.constantFrom(...shares, "NEWT", null)
      }),
      { maxLength: 20 }
    )
  })

  it("tokens vanish only by a readable answer within the bound, decimals stay, and no address or share comes twice", () =>
    fc.assert(
      fc.property(answer, ({ here, maxRemovedPercent, tokens, unreadable }) => {
        const group = groupOf(here)
        const { next, refusal } = compared(group, readOf(tokens, unreadable), { maxRemovedPercent })
        const named = new Set(tokens.flatMap((token) => (token.chain === chain ? [token.address] : [])))
        const byAddress = new Map(next.tokens.map((row) => [row[3], row]))
        assert.strictEqual(byAddress.size, next.tokens.length)
        const gone = group.tokens.filter(([, , , address]) => !byAddress.has(address))
        const absent = group.tokens.filter(([, , , address]) => !named.has(address))
        const isAllowed = unreadable === 0 && absent.length * 100 <= group.tokens.length * maxRemovedPercent
        assert.deepStrictEqual(gone, isAllowed ? absent : [])
        assert.strictEqual(refusal !== null, unreadable === 0 && !isAllowed)
        for (const [, , decimals, address] of group.tokens)
          assert.strictEqual((byAddress.get(address) ?? [0, 0, decimals])[2], decimals)
        const fresh = next.tokens.filter(([, , , address]) => !group.tokens.some((row) => row[3] === address))
        assert.strictEqual(new Set(fresh.map(([subject]) => subject)).size, fresh.length)
        for (const [subject] of next.tokens) assert.include(shares, subject)
      }),
      { numRuns: 500 }
    ))
})
