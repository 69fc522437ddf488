/** What the README and the pages that continue it say of commands, variables, files and figures is so. */
import { assert, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { content } from "#layers/catalogue/content.ts"

const root = join(import.meta.dirname, "../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
/** What the README says first, and what it hands on to. */
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/README.md",
  "docs/api.md",
  "docs/limits.md",
  "docs/client.md",
  "docs/benchmarks.md"
].map((path) => ({ path, text: read(path) }))
const readme = pages.map(({ text }) => text).join("\n")

const all = (text: string, pattern: RegExp): ReadonlyArray<string> => [
  ...new Set([...text.matchAll(pattern)].map(([, found]) => found!))
]

/** Variables of tests, the sandbox, benchmarks and the shell that follows the README: no deployment gets them. */
const others = new Set(
  [
    "API",
    "BALLAST_KEY",
    "BENCH_DATABASE_URL",
    "BENCH_ROUNDS",
    "STILL_RUNNING",
    "UPDATE_SNAPSHOT",
    "UNEXPECTED_ANSWER",
    "CONTROL",
    "KEY",
    "BASE_USDC",
    "BASE_WETH",
    "PROPERTY_SEED",
    "TEST_DATABASE_URL"
  ].concat(all(read("sandbox/WorldConfig.ts"), /"(SANDBOX_[A-Z_]+)"/gu))
)

it("variables that the pages name are those of .env.example, with the defaults that docs/operations.md gives", () => {
  const example = read(".env.example")
  const known = new Map(
    [...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gmu)].map(([, name, value]) => [name!, value!])
  )
  const isKnown = (name: string) => known.has(name) || known.has(`${name}8453`)
  const named = all(readme, /\b([A-Z][A-Z0-9]*_[A-Z0-9_]*)/gu).filter(
    (name) => !others.has(name) && !/^API_\d+$/u.test(name)
  )
  assert.isAtLeast(named.length, 10)
  assert.deepStrictEqual(
    // The variables of OpenTelemetry are its own standard.
    named.filter((name) => !isKnown(name) && !name.startsWith("OTEL_")),
    []
  )
  const rows = [...read("docs/operations.md").matchAll(/^\| (`[A-Z][^|]*?) +\| ([^|]*?) +\|/gmu)]
  const said = rows.flatMap(([, names, defaults]) => {
    // The second variable of a row may be written by its end, `_PER_KEY`.
    const variables = [...names!.matchAll(/`([A-Z0-9_]+)`/gu)].map(([, name]) => name!)
    const values = defaults!.split(",").map((value) => /^`([^`<]+)`$/u.exec(value.trim())?.[1])
    return variables.length !== values.length
      ? []
      : variables.flatMap((name, index) =>
          values[index] === undefined || name.startsWith("_") ? [] : [[name, values[index]] as const]
        )
  })
  assert.isAbove(said.length, 70)
  for (const [name, value] of said) {
    const used = known.get(name) ?? ""
    // `1.00` is as good as `1`; an address ends with the port of another variable.
    const isSame = used === value || (value.endsWith(":") ? used.startsWith(value) : Number(used) === Number(value))
    assert.isTrue(isSame, `the default of ${name} is ${used}, not ${value}`)
  }
})

it("every command that the pages name is one of package.json, and every benchmark is there", () => {
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

it("every file and every section of a page that the pages link is there", () => {
  const links = pages.flatMap(({ path, text }) =>
    all(text, /\]\((?!https?:)([^)]+)\)/gu).map((link) =>
      link.startsWith("#") ? `${path}${link}` : join(dirname(path), link)
    )
  )
  assert.isAbove(links.length, 60)
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

it("the checked-in catalogue has as many tokens as docs/api.md says", () => {
  const [, said] = /checked-in catalogue of\s+(\d+) tokens/u.exec(readme)!
  assert.strictEqual(content.representations.length, Number(said))
})

it("the simulator's seeds in the long tests are as many as CONTRIBUTING says", () => {
  const [, said] = /runs (\w+) seeds of the simulator/u.exec(readme.replaceAll("\n", " "))!
  const test = read("test/simulation/seeds.long.test.ts")
  assert.include(test, `in ${said} seeds`)
  assert.strictEqual(said, "twenty")
  assert.match(test, /count: 20\b/u)
})

it("a program that the pages start is there", () => {
  for (const program of all(readme, /(?:node|`)\s?(src\/\w+\.ts)/gu))
    assert.isTrue(existsSync(join(root, program)), program)
})

it("the README has two screens, and shows a picture that is there", () => {
  const text = read("README.md")
  assert.isAtMost(text.split("\n").length - 1, 200)
  const pictures = all(text, /!\[[^\]]+\]\(([^)]+)\)/gu)
  assert.deepStrictEqual(pictures, ["docs/demo.svg"])
})

it("docs/README.md maps every page of docs", () => {
  const map = read("docs/README.md")
  assert.deepStrictEqual(
    readdirSync(join(root, "docs")).filter((name) => name !== "README.md" && !map.includes(name)),
    []
  )
})
