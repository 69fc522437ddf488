/** Decisions say whether they are in force, and what replaced them; what they link and name is there. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = join(root, "docs/decisions")

const pages = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), "utf8")
  return {
    name,
    number: Number(name.slice(0, 4)),
    text,
    /** The first paragraph, which says whether it is in force. */
    status: /^# .*\n\n(\*\*Status\.\*\* .*(?:\n.+)*)/u.exec(text)?.[1]?.replaceAll("\n", " ")
  }
})

const byNumber = new Map(pages.map((page) => [page.number, page]))

const numbersIn = (text: string) =>
  [...text.matchAll(/\[(?:decision )?(\d+)\]|\bdecision (\d+)/gu)].map(([, linked, plain]) => Number(linked ?? plain))

describe("decisions", () => {
  it("each has a number of its own, which its title begins with, and a status", () => {
    assert.strictEqual(byNumber.size, pages.length)
    assert.deepStrictEqual(
      pages
        .filter(({ number, status, text }) => !text.startsWith(`# ${number}. `) || status === undefined)
        .map(({ name }) => name),
      []
    )
  })

  it("a decision that another one replaces, wholly or in part, names that one", () =>
    assert.deepStrictEqual(
      pages.flatMap(({ name, number, status }) =>
        [...(status ?? "").matchAll(/\breplaces\b[^.]*/giu)]
          .flatMap(([sentence]) => numbersIn(sentence))
          .filter((replaced) => !numbersIn(byNumber.get(replaced)?.text ?? "").includes(number))
          .map((replaced) => `${replaced} does not name ${name}`)
      ),
      []
    ))

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
      pages
        .filter(({ status }) => !/Replaced by/u.test(status ?? ""))
        .flatMap(({ name, text }) =>
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
})
