/** The collection for Postman, Bruno and others: docs/ballast.postman_collection.json. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { readFileSync } from "node:fs"
import { collectionSchema, postmanCollection } from "#http/docs/postmanCollection.ts"
import { V2 } from "#http/v2/Api.ts"

const Row = Schema.Struct({
  key: Schema.NonEmptyString,
  value: Schema.String,
  description: Schema.optionalKey(Schema.String),
  disabled: Schema.optionalKey(Schema.Boolean)
})

const Auth = Schema.Union([
  Schema.Struct({ type: Schema.Literal("noauth") }),
  Schema.Struct({
    type: Schema.Literal("apikey"),
    apikey: Schema.Array(
      Schema.Struct({ key: Schema.NonEmptyString, value: Schema.String, type: Schema.Literal("string") })
    )
  })
])

const Item = Schema.Struct({
  name: Schema.NonEmptyString,
  request: Schema.Struct({
    method: Schema.Literals(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    url: Schema.Struct({
      raw: Schema.NonEmptyString,
      host: Schema.NonEmptyArray(Schema.NonEmptyString),
      path: Schema.NonEmptyArray(Schema.NonEmptyString),
      query: Schema.optionalKey(Schema.Array(Row)),
      variable: Schema.optionalKey(Schema.Array(Row))
    }),
    description: Schema.NonEmptyString,
    header: Schema.Array(Row),
    auth: Schema.optionalKey(Auth),
    body: Schema.optionalKey(
      Schema.Struct({
        mode: Schema.Literal("raw"),
        raw: Schema.NonEmptyString,
        options: Schema.Struct({ raw: Schema.Struct({ language: Schema.Literal("json") }) })
      })
    )
  })
})

/** The parts of the format 2.1.0 that are used, as its documentation has them; nothing else may stand in it. */
const Collection = Schema.Struct({
  info: Schema.Struct({
    name: Schema.NonEmptyString,
    description: Schema.String,
    schema: Schema.Literal(collectionSchema)
  }),
  item: Schema.NonEmptyArray(Schema.Struct({ name: Schema.NonEmptyString, item: Schema.NonEmptyArray(Item) })),
  auth: Auth,
  variable: Schema.Array(Row)
})

const document: any = JSON.parse(JSON.stringify(OpenApi.fromApi(V2)))
const text = readFileSync(new URL("../../docs/ballast.postman_collection.json", import.meta.url), "utf8")
const collection = Schema.decodeUnknownSync(Collection)(JSON.parse(text), { onExcessProperty: "error" })
const requests = collection.item.flatMap(({ item }) => item).map(({ request }) => request)

describe("the collection", () => {
  it("is made of the document as it is; `npm run collection` writes it", () =>
    assert.strictEqual(text, `${JSON.stringify(postmanCollection(OpenApi.fromApi(V2)), null, 2)}\n`))

  it("has every operation once, with its parameters and the document's example of a body", () => {
    const operations = Object.entries<any>(document.paths).flatMap(([path, item]) =>
      Object.entries<any>(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
    )
    assert.strictEqual(requests.length, operations.length)
    for (const { method, operation, path } of operations) {
      const raw = `{{baseUrl}}${path.replaceAll(/\{([A-Za-z]+)\}/g, ":$1")}`
      const found = requests.filter((request) => request.method === method && request.url.raw === raw)
      assert.lengthOf(found, 1, `${method} ${path}`)
      const [{ auth, body, header, url }] = found as [(typeof found)[0]]
      const names = (place: string) =>
        operation.parameters.filter((parameter: any) => parameter.in === place).map(({ name }: any) => name)
      assert.deepStrictEqual(
        (url.query ?? []).map(({ key }) => key),
        names("query")
      )
      assert.deepStrictEqual(
        (url.variable ?? []).map(({ key }) => key),
        names("path")
      )
      for (const { value } of url.variable ?? []) assert.notStrictEqual(value, "")
      assert.includeMembers(
        header.map(({ key }) => key),
        names("header")
      )
      const example = operation.requestBody && Object.values<any>(operation.requestBody.content)[0].example
      assert.deepStrictEqual(body === undefined ? undefined : JSON.parse(body.raw), example)
      assert.strictEqual(auth?.type === "noauth", operation.security.length === 0)
    }
  })

  it("holds no key", () => assert.notMatch(text, /bk_(live|test)_[A-Za-z0-9_-]{20}/u))
})
