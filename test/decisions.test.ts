/**
 * Decisions say whether they are in force, and what replaced them; the index has each of them; what they link and name
 * is there.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = join(root, "docs/decisions")

const reference = String.raw`\[\d+\]\([^)]+\)`

/** The three forms of a status. */
const forms = {
  whole: /^In force\.$/u,
  part: new RegExp(
    String.raw`^In force in part: .+ (?:is|are) replaced by ${reference}(?:, .+ by ${reference})*\.$`,
    "u"
  ),
  none: new RegExp(String.raw`^Replaced by ${reference}\.$`, "u")
}

const pages = readdirSync(folder)
  .filter((name) => name !== "README.md")
  .map((name) => {
    const text = readFileSync(join(folder, name), "utf8")
    const [, title, status] = /^# (.*)\n\n\*\*Status\.\*\* (.*(?:\n.+)*)/u.exec(text) ?? []
    return { name, number: Number(name.slice(0, 4)), text, title, status: status?.replaceAll("\n", " ") ?? "" }
  })

const inForce = pages.filter(({ status }) => !forms.none.test(status))

/** Numbers of the pages that a text links to by their numbers. */
const linkedIn = (text: string) =>
  [...text.matchAll(/\[(?:decision\s+)?(\d+)\]\(/gu)].map(([, number]) => Number(number))

/** What a page says that it replaces: sentences that begin with the word. */
const replacedBy = (text: string) =>
  [...text.matchAll(/\bReplaces\b[^.]*(?:\.md[^.]*)*/gu)].flatMap(([said]) => linkedIn(said))

/** Sources by their paths from the root. */
const sources = [
  "bench",
  "client",
  "contracts",
  "domain",
  "http",
  "layers",
  "migrations",
  "rpc",
  "sandbox",
  "scripts",
  "src",
  "stream",
  "test"
]
  .flatMap((top) => globSync(`${top}/**/*.{ts,mjs,sol}`, { cwd: root }))
  .map((path) => ({ path, words: new Set(readFileSync(join(root, path), "utf8").match(/\w+/gu)) }))

const fileNames = new Set(sources.map(({ path }) => basename(path)))

const isThere = (...names: ReadonlyArray<string>) =>
  sources.some(({ path, words }) => path !== "test/decisions.test.ts" && names.every((name) => words.has(name)))

/** Names that the sources have not, and why pages in force give them. */
const absent: Readonly<Record<string, string>> = {
  "Live.ts": "281 speaks of the ends of names",
  HttpRunner: "217 says that this part of a library is not used",
  RateLimiter: "10, in what of it is replaced, used this part of a library",
  "Schema.Class": "245 weighs this function of a library and does not use it",
  ServedAssetId: "194 says that it is gone",
  SqlSchema: "274 weighs this part of a library and does not use it",
  Writable: "106 says what a library makes for itself",
  confirmTransaction: "175 says that this function of a library is not used",
  eth_getBlockReceipts: "151 weighs this request and does not make it",
  findAll: "274, of SqlSchema",
  findOneOption: "274, of SqlSchema"
}

/** Names of files and code between backticks. */
const namesIn = (text: string) => [...text.matchAll(/`([^`\n]+)`/gu)].map(([, name]) => name!)

const isFile = /^[\w-]+(?:\.\w+)*\.(?:ts|mjs|sol)$/u
const isMember = /^[A-Za-z]\w*\.[a-zA-Z]\w*$/u
/** Words that are written together, and those that begin like a type. */
const isWord = /^(?=\w*[a-z][A-Z]|[A-Z][a-z]|[a-z]+_\w*[A-Z])\w+$/u

describe("decisions", () => {
  it("each has a number of its own, which its title begins with", () => {
    assert.strictEqual(new Set(pages.map(({ number }) => number)).size, pages.length)
    assert.deepStrictEqual(
      pages.filter(({ number, title }) => !title?.startsWith(`${number}. `)).map(({ name }) => name),
      []
    )
  })

  it("each has a status in one of three forms, which is the whole of its first paragraph", () =>
    assert.deepStrictEqual(
      pages
        .filter(({ status }) => !Object.values(forms).some((form) => form.test(status)))
        .map(({ name, status }) => `${name}: ${status}`),
      []
    ))

  it("a page that is replaced, wholly or in part, and the one that replaces it name each other", () => {
    const statuses = pages.flatMap(({ number, status }) => linkedIn(status).map((by) => `${by} replaces ${number}`))
    const claims = pages.flatMap(({ number, text }) =>
      replacedBy(text).map((replaced) => `${number} replaces ${replaced}`)
    )
    assert.deepStrictEqual(claims.toSorted(), statuses.toSorted())
  })

  it("the index has each page once, under its title", () => {
    const mark = (status: string) =>
      forms.whole.test(status) ? "" : forms.part.test(status) ? ", in part" : ", replaced"
    assert.deepStrictEqual(
      readFileSync(join(folder, "README.md"), "utf8")
        .replaceAll(/\n {2,}/gu, " ")
        .split("\n")
        .filter((line) => /^- \[\d/u.test(line))
        .toSorted(),
      pages.map(({ name, status, title }) => `- [${title}](${name})${mark(status)}`).toSorted()
    )
  })

  it("what they link to is there", () =>
    assert.deepStrictEqual(
      pages.flatMap(({ name, text }) =>
        [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/gu)]
          .filter(([, link]) => !existsSync(join(folder, link!)))
          .map(([, link]) => `${name}: ${link}`)
      ),
      []
    ))

  it("files that those in force name by their paths are there", () =>
    assert.deepStrictEqual(
      inForce.flatMap(({ name, text }) =>
        [
          ...text.matchAll(
            /`((?:domain|layers|http|rpc|stream|src|client|sandbox|test|contracts|migrations)\/[^`\s]+)`/gu
          )
        ]
          .filter(([, path]) => globSync([path!, `${path}.ts`, `${path}*`], { cwd: root }).length === 0)
          .map(([, path]) => `${name}: ${path}`)
      ),
      []
    ))

  it("files, members and types that those in force name are there", () =>
    assert.deepStrictEqual(
      inForce.flatMap(({ name, text }) =>
        namesIn(text)
          .filter((named) => {
            if (named in absent) return false
            if (isFile.test(named)) return !fileNames.has(named)
            if (isMember.test(named)) return !isThere(...named.split("."))
            return isWord.test(named) && !isThere(named) && !fileNames.has(`${named}.ts`)
          })
          .map((named) => `${name}: ${named}`)
      ),
      []
    ))

  it("every name that is known to be absent is named, and absent", () =>
    assert.deepStrictEqual(
      Object.keys(absent).filter(
        (named) =>
          (isFile.test(named) ? fileNames.has(named) : isThere(...named.split("."))) ||
          !inForce.some(({ text }) => namesIn(text).includes(named))
      ),
      []
    ))
})
