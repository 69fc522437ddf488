/** What the pages for contributors name is where they say. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

const topLevel = new Set(readdirSync(root))

const fence = /^```[^\n]*\n[\s\S]*?^```$/gm
const inlineCode = /`([^`\n]+)`/g
/** Relative targets of links, without the part after `#`. */
const link = /\]\((?!https?:)([^)#\s]+)/g
/** A path below a folder of the repository, or the name of a file. */
const path = /^(?:[\w.-]+\/)+(?:[\w.-]+)?$/
const fileName = /^[\w.-]+\.(?:ts|mjs|md|sol|ya?ml)$/

interface Named {
  readonly line: string
  readonly name: string
}

/** A paragraph, an item or a row in one line each. */
const linesOf = (text: string) => text.replaceAll(/\n *(?![\n|#]|- |\d+\. | *$)/gu, " ").split("\n")

const namesOf = (text: string, pattern: RegExp): ReadonlyArray<Named> =>
  linesOf(text).flatMap((line) => [...line.matchAll(pattern)].map(([, name]) => ({ line, name: name! })))

/** Paths in blocks of code begin with a folder of the repository. The last one may be a module without its ending. */
const blockPaths = (text: string) =>
  (text.match(fence) ?? []).flatMap((block) => block.match(/(?<![\w/.{<-])[\w.-]+\/[\w./-]*/g) ?? [])

const isInRepository = (name: string) => topLevel.has(name.split("/")[0]!)

const exists = (name: string) => existsSync(join(root, name)) || existsSync(join(root, `${name}.ts`))

/** A name without a folder is in the folder of a path that its line names, or below it. */
const isBeside = ({ line, name }: Named) =>
  [...line.matchAll(inlineCode)]
    .map(([, other]) => other!)
    .filter((other) => path.test(other) && isInRepository(other) && exists(other))
    .map((other) => (other.endsWith("/") ? other : dirname(other)))
    .some((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).some((file) => file === name)
    )

const missing = (page: string): ReadonlyArray<string> => {
  const text = readFileSync(join(root, page), "utf8")
  const named = namesOf(text.replaceAll(fence, ""), inlineCode)
  const paths = [...named.map(({ name }) => name), ...blockPaths(text)].filter(
    (name) => path.test(name) && isInRepository(name)
  )
  const besides = named.filter(({ name }) => fileName.test(name) && !topLevel.has(name))
  const links = namesOf(text, link).map(({ name }) => join(dirname(page), name))
  assert.isAbove(paths.length, 20)
  return [
    ...[...paths, ...links].filter((name) => !exists(name)),
    ...besides.filter((name) => !isBeside(name)).map(({ name }) => name)
  ]
}

describe("named files", () => {
  it("what docs/architecture.md calls pure runs no effect", () => {
    const rows = readFileSync(join(root, "docs/architecture.md"), "utf8")
      .split("\n")
      .filter((line) => /^\|[^|]*: pure +\|/u.test(line))
    assert.isAbove(rows.length, 20)
    const files = rows.flatMap((row) => {
      const [first, ...others] = [...row.matchAll(inlineCode)].map(([, name]) => name!)
      return [first!, ...others.map((name) => (path.test(name) ? name : join(dirname(first!), name)))]
    })
    assert.deepStrictEqual(
      files.filter((file) =>
        /^import \{[^}]*(?<!type )\bEffect\b[^}]*\} from "effect"/mu.test(readFileSync(join(root, file), "utf8"))
      ),
      []
    )
  })

  it.each(["CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md"])(
    "every file or folder that %s names exists",
    (page) => assert.deepStrictEqual(missing(page), [])
  )
})
