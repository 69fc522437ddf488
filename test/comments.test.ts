/** Tests that comments and descriptions begin with a noun or a verb: a reader needs no line below to end them. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root, sources } from "#test/sources.ts"

const openings =
  "above|after|against|also|among|as|at|because|before|below|between|both|but|by|either|for|from|if|in|neither|nor|of|on|or|over|per|since|so|than|through|to|under|unless|until|when|while|with|within|without"
const hanging = new RegExp(`^(?:${openings})\\b`, "iu")

/** What is wrong with a sentence's words; undefined when nothing is. */
const problemOf = (sentence: string): string | undefined =>
  hanging.test(sentence)
    ? "begins with a preposition or a conjunction"
    : sentence.startsWith("The same")
      ? "says `The same`, and not what"
      : /\bof before\b/u.test(sentence)
        ? "says `of before`"
        : undefined

const docComment = /\/\*\*([\s\S]*?)\*\//gu

const problemsOfComments = ({ path }: { readonly path: string }): ReadonlyArray<string> => {
  const text = readFileSync(join(root, path), "utf8")
  return [...text.matchAll(docComment)].flatMap(({ 1: comment, index }) => {
    const problem = problemOf(comment!.replaceAll(/\s*\n\s*\*\s?/gu, " ").trim())
    return problem === undefined ? [] : [`${path}:${text.slice(0, index).split("\n").length} ${problem}`]
  })
}

const descriptionsIn = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(descriptionsIn)
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, part]) =>
    /^(?:description|summary)$/u.test(key) && typeof part === "string" ? [part] : descriptionsIn(part)
  )
}

describe("sentences", () => {
  it("a doc comment begins with a noun or a verb", () => {
    assert.isAbove(sources.length, 100)
    assert.deepStrictEqual(sources.flatMap(problemsOfComments), [])
  })

  it("a description of the OpenAPI documents does too", () => {
    const folder = join(root, "test/api/openapi")
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".json"))
    const described = [
      ...new Set(files.flatMap((path) => descriptionsIn(JSON.parse(readFileSync(join(folder, path), "utf8")))))
    ]
    assert.isAbove(described.length, 500)
    assert.deepStrictEqual(
      described.flatMap((text) => {
        const problem = problemOf(text)
        return problem === undefined ? [] : [`${problem}: ${text}`]
      }),
      []
    )
  })

  it("finds what it forbids", () =>
    assert.deepStrictEqual(
      ["Of the transaction.", "The same for Solana.", "Rows of before have none.", "Hash of the transaction."].map(
        (sentence) => problemOf(sentence) !== undefined
      ),
      [true, true, true, false]
    ))
})
