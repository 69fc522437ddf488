/** Tests that comments and descriptions begin with a noun or a verb: a reader needs no line below to end them. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { docComments, faultOf } from "#scripts/house.ts"
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

describe("sentences", () => {
  it("a doc comment begins with a noun or a verb", () => {
    assert.isAbove(sources.length, 100)
    assert.deepStrictEqual(
      sources.flatMap(({ path }) => faultsIn(docComments(readFileSync(join(root, path), "utf8")))),
      []
    )
  })

  it("a description of the OpenAPI documents does too", () => {
    const folder = join(root, "test/api/openapi")
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".json"))
    const described = [
      ...new Set(files.flatMap((path) => descriptionsIn(JSON.parse(readFileSync(join(folder, path), "utf8")))))
    ]
    assert.isAbove(described.length, 500)
    assert.deepStrictEqual(faultsIn(described), [])
  })
})
