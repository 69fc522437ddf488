/**
 * Comments that cite docs/interface.md or docs/shapes.md name a heading, or a numbered rule below it, that is there; so
 * do those that cite another page of `docs/`.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { comment, root, sources } from "#test/sources.ts"

const read = (path: string) => readFileSync(join(root, path), "utf8")

const headingsIn = (page: string) => [...page.matchAll(/^#{2,3} (.+)$/gmu)].map(([, title]) => title!)

/** The sections of docs/interface.md by their titles, and routes also without their method and version. */
const sections = new Map(
  read("docs/interface.md")
    .split(/^(?=#{2,3} )/mu)
    .slice(1)
    .flatMap((section) => {
      const title = /^#+ (.+)$/mu.exec(section)![1]!.replaceAll("`", "")
      return [title, title.replace(/^[A-Z]+ \/v2\//u, ""), title.replace(/ \(CAIP\)$/u, "")].map(
        (name) => [name, section] as const
      )
    })
)

const numbers = new Set(
  headingsIn(read("docs/shapes.md")).map((title) => /^(\d\.\d+|[A-Z]{1,2}|\d)\b/u.exec(title)?.[1])
)

interface Citation {
  readonly page: string
  readonly text: string
}

/** Comments without their marks, each paragraph in one line. */
const commentsIn = (text: string) =>
  text
    .split("\n")
    .map((line) => (comment.test(line) ? line.replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)\s?/u, "") : "\n"))
    .join(" ")

const pages = globSync("docs/decisions/*.md", { cwd: root }).map((path) => ({
  path,
  text: read(path).replaceAll("\n", " ")
}))
const texts = [
  ...sources.map(({ path }) => ({ path, text: commentsIn(read(path)) })),
  ...globSync("{contracts,sandbox}/**/*.sol", { cwd: root }).map((path) => ({ path, text: commentsIn(read(path)) })),
  ...pages
].filter(({ path }) => path !== "test/docs/sources.test.ts")

const found = (pattern: RegExp): ReadonlyArray<Citation> =>
  texts.flatMap(({ path, text }) => [...text.matchAll(pattern)].map(([cited]) => ({ page: path, text: cited })))

/** Such as `interface "Positions" and "Number formats"`, `interface "Authentication" 4`, `interface "X", rule 3`. */
const ofInterface = found(
  /\binterface "[^"]+"(?:(?:,? rules?)? \d+(?: (?:and|to) \d+)?)?(?:,? and "[^"]+"(?:(?:,? rules?)? \d+)?)*/gu
)

const part = String.raw`(?:\d\.\d+|[A-Z]{1,2})(?![\w-])`
/** `shapes 2.20 and 2.21`, `shapes 2.26, J, L and N`, `shapes E to I`. */
const ofShapes = found(new RegExp(String.raw`\bshapes ${part}(?:(?:, and|,| and| to) ${part})*`, "gu"))

/** Every rule that a section of the interface is asked for: each number, and those between two. */
const rulesOf = (said: string): ReadonlyArray<number> => {
  const [first, last] = [...said.matchAll(/\d+/gu)].map(([digits]) => Number(digits))
  if (first === undefined) return []
  if (last === undefined) return [first]
  return said.includes(" to ") ? Array.from({ length: last - first + 1 }, (_, index) => first + index) : [first, last]
}

describe("sources that comments cite", () => {
  it("sections and rules of docs/interface.md are there", () => {
    assert.isAbove(ofInterface.length, 90)
    assert.deepStrictEqual(
      ofInterface.flatMap(({ page, text }) =>
        [...text.matchAll(/"([^"]+)"([^"]*)/gu)].flatMap(([, title, after]) => {
          const section = sections.get(title!)
          if (section === undefined) return [`${page}: ${title}`]
          return rulesOf(after!)
            .filter((rule) => !new RegExp(`^${rule}\\. `, "mu").test(section))
            .map((rule) => `${page}: ${title} ${rule}`)
        })
      ),
      []
    )
  })

  it("sections of docs/shapes.md are there", () => {
    assert.isAbove(ofShapes.length, 110)
    assert.deepStrictEqual(
      ofShapes.flatMap(({ page, text }) =>
        [...text.matchAll(new RegExp(part, "gu"))]
          .filter(([number]) => !numbers.has(number))
          .map(([number]) => `${page}: shapes ${number}`)
      ),
      []
    )
  })

  it("pages that comments cite are there; a decision by its number alone, too", () => {
    const cited = found(/(?<![\w/.-])docs\/[\w/.-]*\w/gu).filter(({ page }) => !page.startsWith("docs/"))
    assert.isAbove(cited.length, 120)
    assert.deepStrictEqual(
      cited
        .filter(({ text }) => globSync(/\/\d{4}$/u.test(text) ? `${text}-*.md` : text, { cwd: root }).length !== 1)
        .map(({ page, text }) => `${page}: ${text}`),
      []
    )
  })

  it("no citation of the two is written so that nobody can follow it", () =>
    assert.deepStrictEqual(
      texts.flatMap(({ path, text }) =>
        [
          ...text.matchAll(/\b(?:interface,? (?:`|"(?![^"]+")|registry|rules?)|interface, ")[^.]{0,30}/gu),
          ...text.matchAll(
            new RegExp(String.raw`\bSources?:[^.]*\b(?:interface(?! "[^"]+")|shapes(?! ${part}))[^.]{0,30}`, "gu")
          ),
          ...text.matchAll(/\bshapes (?:section|items?|\d [A-Z]|\d(?!\.\d))\b[^.]{0,20}/gu)
        ].map(([said]) => `${path}: ${said}`)
      ),
      []
    ))
})
