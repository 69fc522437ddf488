/** The tables of the guard's storage and events in docs/contracts.md are those of the compiler. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, "utf8")

interface Compiled {
  readonly abi: ReadonlyArray<{
    readonly type: string
    readonly name?: string
    readonly inputs?: ReadonlyArray<{ readonly type: string }>
  }>
  readonly storageLayout: {
    readonly storage: ReadonlyArray<{ readonly slot: string; readonly label: string; readonly type: string }>
    readonly types: Readonly<
      Record<
        string,
        {
          readonly label: string
          readonly numberOfBytes: string
          readonly members?: ReadonlyArray<{ readonly label: string }>
        }
      >
    >
  }
}

/** Compiles without the optimizer, which changes neither. */
const compiled = (): Compiled => {
  const solc = createRequire(import.meta.url)("solc") as {
    readonly compile: (input: string, callbacks: { readonly import: (path: string) => object }) => string
  }
  const path = "contracts/TradeGuard.sol"
  const input = {
    language: "Solidity",
    sources: { [path]: { content: read(path) } },
    settings: { evmVersion: "cancun", outputSelection: { "*": { "*": ["abi", "storageLayout"] } } }
  }
  const find = (name: string) => ({ contents: read(name.startsWith("contracts/") ? name : `node_modules/${name}`) })
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: find })) as {
    readonly contracts: Record<string, Record<string, Compiled>>
  }
  return output.contracts[path]!["TradeGuard"]!
}

const [, section] = read("docs/contracts.md").split("## Storage and events")
const rows = section!
  .split("\n## ")[0]!
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")))

describe("docs/contracts.md", () => {
  const { abi, storageLayout } = compiled()

  it("names every slot of the guard with its type", () => {
    assert.deepStrictEqual(
      rows.filter(([, slot]) => /^\d+$/u.test(slot!)).map(([, slot, label, type]) => [slot, label, type]),
      storageLayout.storage.map(({ label, slot, type }) => [slot, label, storageLayout.types[type]!.label])
    )
  })

  it("names every event of the guard with its arguments", () => {
    const events = abi.filter(({ type }) => type === "event")
    assert.deepStrictEqual(
      rows
        .map(([, name]) => name!)
        .filter((name) => name.endsWith(")"))
        .toSorted(),
      events.map(({ inputs, name }) => `${name}(${inputs!.map(({ type }) => type).join(",")})`).toSorted()
    )
  })

  it("keeps an account in one word", () => {
    const account = Object.values(storageLayout.types).find(({ label }) => label === "struct LossBudget.Account")
    assert.deepStrictEqual(
      account!.members!.map(({ label }) => label),
      ["permissionId", "issuedAt", "validUntil", "tradeBps", "budgetBps", "lost", "turnover", "chargedAt", "signed"]
    )
    assert.strictEqual(account!.numberOfBytes, "32")
  })
})
