/** What the README says of commands, variables, files and figures is so. */
import { assert, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { content } from "#layers/catalogue/content.ts"

const root = join(import.meta.dirname, "../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const readme = read("README.md")

const all = (text: string, pattern: RegExp): ReadonlyArray<string> => [
  ...new Set([...text.matchAll(pattern)].map(([, found]) => found!))
]

/** Variables of tests, of the sandbox and of the shell that follows the README: no deployment gets them. */
const others = new Set(
  ["API", "CONTROL", "KEY", "BASE_USDC", "BASE_WETH", "PROPERTY_SEED", "TEST_DATABASE_URL"].concat(
    all(read("sandbox/WorldConfig.ts"), /"(SANDBOX_[A-Z_]+)"/gu)
  )
)

it("every variable that the README names is one of .env.example, with the default that the README gives", () => {
  const example = read(".env.example")
  const known = new Map(
    [...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gmu)].map(([, name, value]) => [name!, value!])
  )
  const isKnown = (name: string) => known.has(name) || known.has(`${name}8453`)
  const named = all(readme, /\b([A-Z][A-Z0-9]*_[A-Z0-9_]*)/gu).filter(
    (name) => !others.has(name) && !/^API_\d+$/u.test(name)
  )
  assert.isAbove(named.length, 10)
  assert.deepStrictEqual(
    // The variables of OpenTelemetry are its own standard.
    named.filter((name) => !isKnown(name) && !name.startsWith("OTEL_")),
    []
  )
  const rows = [...readme.matchAll(/^\| (`[A-Z][^|]*?) +\| ([^|]*?) +\|/gmu)]
  assert.isAbove(rows.length, 7)
  for (const [, names, defaults] of rows) {
    const values = all(defaults!, /`([^`]+)`/gu)
    for (const [index, value] of values.entries()) {
      const name = all(names!, /`([A-Z0-9_]+)`/gu)[index]!
      assert.strictEqual(known.get(name), value, `the default of ${name}`)
    }
  }
})

it("every command that the README names is one of package.json, and every benchmark is there", () => {
  const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
  const commands = all(readme, /npm (?:run )?(start|test(?::\w+)?|(?<=run )[a-z:-]+)/gu)
  assert.isAbove(commands.length, 8)
  assert.deepStrictEqual(
    commands.filter((name) => scripts[name] === undefined),
    []
  )
  const benchmarks = all(readme, /npm run bench -- (\w+)/gu)
  assert.isAbove(benchmarks.length, 6)
  assert.deepStrictEqual(
    benchmarks.filter((name) => !existsSync(join(root, `bench/${name}.ts`))),
    []
  )
})

it("every file and every section of a page that the README links is there", () => {
  const links = all(readme, /\]\((?!https?:)([^)]+)\)/gu)
  assert.isAbove(links.length, 20)
  const isThere = (link: string) => {
    const [path, section] = link.split("#")
    if (!existsSync(join(root, path!))) return false
    if (section === undefined) return true
    const titles = all(read(path!), /^#+ (.*)$/gmu)
    return titles.some(
      (title) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/gu, "")
          .replaceAll(" ", "-") === section
    )
  }
  assert.deepStrictEqual(
    links.filter((link) => !isThere(link)),
    []
  )
})

it("the checked-in catalogue has as many tokens as the README says", () => {
  const [, said] = /checked-in catalogue of\s+(\d+) tokens/u.exec(readme)!
  assert.strictEqual(content.representations.length, Number(said))
})

it("the simulator's seeds in the long tests are as many as the README says", () => {
  const [, said] = /runs (\w+) seeds of the simulator/u.exec(readme.replaceAll("\n", " "))!
  const test = read("test/simulation/seeds.long.test.ts")
  assert.include(test, `in ${said} seeds`)
  assert.strictEqual(said, "sixty")
  assert.match(test, /\b60\b/u)
})

it("a program that the README starts is there", () => {
  for (const program of all(readme, /(?:node|`)\s?(src\/\w+\.ts)/gu))
    assert.isTrue(existsSync(join(root, program)), program)
})
