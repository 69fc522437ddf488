/**
 * Tests that comments and descriptions begin with a noun or a verb, so that a reader needs no line below to end them,
 * and that they and names say what the field says (scripts/ownWords.ts).
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { docComments, faultOf } from "#scripts/house.ts"
import { ownWordIn, ownWordInName } from "#scripts/ownWords.ts"
import { root, sources } from "#test/sources.ts"

const faultsIn = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.flatMap((text) => {
    const fault = faultOf(text)
    return fault === undefined ? [] : [`${fault}: ${text}`]
  })

const descriptionsIn = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(descriptionsIn)
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, part]) =>
    /^(?:description|summary)$/u.test(key) && typeof part === "string" ? [part] : descriptionsIn(part)
  )
}

const openApiFolder = join(root, "test/api/openapi")

const described = [
  ...new Set(
    readdirSync(openApiFolder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".json"))
      .flatMap((path) => descriptionsIn(JSON.parse(readFileSync(join(openApiFolder, path), "utf8"))))
  )
]

const exportedName =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|type|interface|class|function\*?|enum) (\w+)/gmu

describe("sentences", () => {
  it("a doc comment begins with a noun or a verb", () => {
    assert.isAbove(sources.length, 100)
    assert.deepStrictEqual(
      sources.flatMap(({ path }) => faultsIn(docComments(readFileSync(join(root, path), "utf8")))),
      []
    )
  })

  it("a description of the OpenAPI documents does too", () => {
    assert.isAbove(described.length, 500)
    assert.deepStrictEqual(faultsIn(described), [])
  })
})

describe("words of ours that the field does not use", () => {
  const wordsIn = (path: string, texts: ReadonlyArray<string>) =>
    texts.flatMap((text) => {
      const word = ownWordIn(text)
      return word === undefined ? [] : [`${path}: ${word}: ${text}`]
    })

  it("are in no doc comment", () =>
    assert.deepStrictEqual(
      sources.flatMap(({ path }) => wordsIn(path, docComments(readFileSync(join(root, path), "utf8")))),
      []
    ))

  it("are in no description of the OpenAPI documents", () => {
    assert.isAbove(described.length, 500)
    assert.deepStrictEqual(wordsIn("OpenAPI", described), [])
  })

  it("are in no exported name and no file name", () => {
    const names = sources.flatMap(({ code, path }) =>
      [basename(path).replace(/\..*/u, ""), ...[...code.matchAll(exportedName)].map(([, name]) => name!)].map(
        (name) => ({
          name,
          path
        })
      )
    )
    assert.isAbove(names.length, 4_000)
    assert.deepStrictEqual(
      names.flatMap(({ name, path }) => {
        const field = ownWordInName(name)
        return field === undefined ? [] : [`${path}: ${name} -> ${field}`]
      }),
      []
    )
  })

  it.each([
    ["The smallest yield is the floor of the swap.", "floor"],
    ["A transaction that carries one action.", "carries"],
    ["The mark of the candidate.", "mark"],
    ["Its place among the steps.", "place"],
    ["Moves tokens by the owner's signed word.", "owner's signed word"],
    ["One look into the index.", "look"],
    ["What the client is told.", "told"],
    ["The least trade.", "least"],
    ["Calls that are gathered.", "gathered"],
    ["A way between two chains.", "way between two chains"]
  ])("are found when one is put back: %s", (sentence, word) =>
    assert.match(ownWordIn(sentence)!, new RegExp(`^${word} ->`, "u"))
  )

  it.each([
    "Carries the owner's order out, once.",
    "It is marked as old, in place of an error, with at least 6 decimal places.",
    "Names that look alike, which fields tell well apart.",
    "Words of 32 bytes; a withdrawal takes place in another way, as `Math.floor` rounds."
  ])("are not found where English has them: %s", (sentence) => assert.isUndefined(ownWordIn(sentence)))

  it.each(["swapFloorRaw", "CarriedActions", "operationMark", "makePlace", "IssuerWord", "leastAmount", "ClosedWay"])(
    "are found in a name: %s",
    (name) => assert.isDefined(ownWordInName(name))
  )

  it.each(["MarketView", "Replacement", "benchmark", "KeyPasswords", "gatewayOf"])(
    "are not found in a name of another word: %s",
    (name) => assert.isUndefined(ownWordInName(name))
  )
})
