/**
 * Every step of every workflow, as the sources name them: either what it writes is committed together with its result,
 * or a repetition changes nothing, for the reason given here. The crash matrix kills runs between the two and compares
 * how they end.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const folder = join(import.meta.dirname, "../../domain")

/** What it writes and its result are one commit. */
const together = "together"

const steps: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "order/OrderRun.ts": {
    value: "a second valuation finds nothing that changed since the first"
  },
  "operation/runSteps.ts": {
    begin: together,
    "by its argument": together
  },
  "rebalance/submitBatch.ts": {
    announce: together,
    retract: together,
    depart: together
  },
  "rebalance/tradeOnChain.ts": {
    release: "an account that is released already is another's or nobody's, and stays so"
  },
  "rebalance/SignatureRequests.ts": {
    unsigned: together,
    await: together,
    poll: "reads what is awaited",
    resume: "a state that is entered already is entered no second time, and a resumed run answers the same"
  },
  "rebalance/RebalanceRun.ts": {
    plan: "a state that is entered already is entered no second time; the rest reads",
    settled: together,
    finish: "a finished operation stays as it is; a second valuation finds nothing that changed since the first"
  },
  "relay/ChainAction.ts": {
    prepare:
      "an account that is had already is had still, a state that is entered already is entered no second time, and a second valuation finds nothing that changed; the rest reads, quotes and simulates"
  },
  "relay/submitParts.ts": {
    part: "the transaction that is stored is sent again, which a chain takes once; others are signed when it cannot land",
    record: "the same receipt is recorded"
  },
  "relay/TransactionRelay.ts": {
    sign: "bytes are stored before the result; who signs again finds them, and a nonce is reserved once an attempt",
    confirm: "queries a receipt and sends the same bytes again, which a chain includes once",
    replace: "what was stored a moment ago is too young to be replaced"
  },
  "transfer/BridgeRun.ts": {
    begin: "a state that is entered already is entered no second time",
    watch: "polls; a transfer is closed in one transaction, and one that is closed stays as it is"
  },
  "withdrawal/WithdrawalRun.ts": {
    verify: "reads what a transaction delivered",
    value: "a second valuation finds nothing that changed since the first"
  }
}

/** Where the parenthesis that is open before `from` closes. */
const closing = (source: string, from: number): number => {
  let depth = 1
  let at = from
  for (; depth > 0; at++) depth += source[at] === "(" ? 1 : source[at] === ")" ? -1 : 0
  return at
}

const stepsIn = (source: string): ReadonlyArray<readonly [name: string, isTogether: boolean]> =>
  [...source.matchAll(/Activity\.make\(/g)].map(({ 0: opening, index }) => {
    const end = closing(source, index + opening.length)
    const name = /name:[^"`,]*["`]([a-z]+)/.exec(source.slice(index, end))?.[1] ?? "by its argument"
    const isTogether = /^\s*\.annotate\(\s*ClusterSchema\.WithTransaction,\s*true\s*\)/.test(source.slice(end))
    return [name, isTogether]
  })

const inSources = () => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
  return files.flatMap((file) => {
    const found = stepsIn(readFileSync(join(folder, file), "utf8"))
    return found.length === 0 ? [] : [[file, found] as const]
  })
}

describe("every step of a run", () => {
  it("is known here: committed with its result, or repeated without harm", () => {
    const found = inSources().map(([file, named]) => [file, named.map(([name]) => name).toSorted()] as const)
    const known = Object.entries(steps).map(([file, named]) => [file, Object.keys(named).toSorted()] as const)
    assert.deepStrictEqual(Object.fromEntries(found), Object.fromEntries(known))
  })

  it("commits with its result exactly where that is said here", () => {
    for (const [file, named] of inSources())
      for (const [name, isTogether] of named)
        assert.strictEqual(isTogether, steps[file]?.[name] === together, `${name} in ${file}`)
  })
})
