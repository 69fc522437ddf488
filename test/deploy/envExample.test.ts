/** `.env.example` is what the configuration says of itself, and docs/operations.md lists every variable of it. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { programs } from "#src/Config.ts"
import { settingsOf } from "#src/config/describedSettings.ts"
import { envExample } from "#src/config/envExample.ts"
import { integer } from "#src/config/kinds.ts"
import { all, optional, required, withDefault } from "#src/config/Setting.ts"

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")

const count = integer(0, 9, "7")

const text = Effect.runSync(envExample(programs))
const namesIn = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name!)
const names = namesIn(/^#?([A-Z][A-Z0-9_]+)=/gmu)

describe(".env.example", () => {
  it("is up to date; `npm run env-example` writes it", () => {
    assert.strictEqual(read(".env.example"), text)
  })

  it("has every variable that is read, once, also those that are read beside another one alone", () => {
    assert.isAbove(names.length, 110)
    assert.strictEqual(new Set(names).size, names.length)
    assert.includeMembers(names, [
      "DATABASE_URL",
      "UNISWAP_V2_ROUTER_8453",
      "AGENT_SIGNER_TOKEN",
      "STREAM_TICKET_KEYS",
      "ATTESTOR_MAX_DIVERGENCE_BPS",
      "BALLAST_API_KEY"
    ])
  })

  it("what a start without it would ask for is not commented out", () => {
    const asked = namesIn(/^([A-Z][A-Z0-9_]+)=/gmu)
    assert.includeMembers(asked, ["AGENT_PRIVATE_KEY", "RELAYER_PRIVATE_KEY", "API_KEY_PEPPER", "INTERNAL_TOKEN"])
    assert.notInclude(asked, "ADMIN_TOKEN")
  })

  it("docs/operations.md names every variable", () => {
    const docs = read("docs/operations.md")
    // Tables write the second variable of a row by its end, `_TOKEN`, and families by their beginning, `OTEL_*`.
    const families = [...docs.matchAll(/`([A-Z]+_)\*`/gu)].map(([, family]) => family!)
    const isDocumented = (name: string) => {
      const ends = name.split("_").map((_, index, parts) => `\`_${parts.slice(index).join("_")}\``)
      return (
        docs.includes(`\`${name.replace(/_8453$/u, "_<chainId>")}\``) ||
        families.some((family) => name.startsWith(family)) ||
        ends.some((end) => docs.includes(end))
      )
    }
    assert.isFalse(isDocumented("NOT_A_VARIABLE"))
    assert.deepStrictEqual(
      names.filter((name) => !isDocumented(name)),
      []
    )
  })
})

describe("settings of a reading", () => {
  it.effect("are noted with their defaults, in order, whether the reading succeeds or not", () =>
    Effect.gen(function* () {
      const reading = all({ a: optional("A", count), b: withDefault("B", count, 3), c: required("C", count) })
      const environment = ConfigProvider.fromEnvRecord({ B: "none" })
      const found = yield* settingsOf(Effect.provideService(reading, ConfigProvider.ConfigProvider, environment))
      assert.deepStrictEqual(
        found.map(({ fallback, isRequired, name }) => [name, fallback, isRequired]),
        [
          ["A", null, false],
          ["B", "3", false],
          ["C", null, true]
        ]
      )
    })
  )
})
