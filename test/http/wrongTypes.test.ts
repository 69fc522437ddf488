/**
 * What every text and number of every request says when a value of another type stands in its place: an example. The
 * schemas are those of the contracts and procedures, so a new field is asked too.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import type { Rpc } from "effect/rpc"
import { describedParsing, detailsOf } from "#domain/errors/describeIssue.ts"
import { Admin } from "#http/admin/Admin.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { MarketDataStreamProcedures } from "#rpc/MarketDataStream.ts"

/** A text or number of a request, or one of the values that stand for it. */
interface Field {
  readonly name: string
  readonly ast: SchemaAST.AST
}

/** What stands inside a value that is sent, each with the way to it. */
const fieldsOf = (ast: SchemaAST.AST, name: string): ReadonlyArray<Field> => {
  const sent = ast.encoding === undefined ? ast : SchemaAST.toEncoded(ast)
  switch (sent._tag) {
    case "Objects":
      return [
        ...sent.propertySignatures.flatMap(({ name: key, type }) => fieldsOf(type, `${name}.${String(key)}`)),
        ...sent.indexSignatures.flatMap(({ type }) => fieldsOf(type, `${name}.*`))
      ]
    case "Arrays":
      return [...sent.elements, ...sent.rest].flatMap((item) => fieldsOf(item, `${name}[]`))
    case "Union":
      return sent.types.some(({ _tag }) => _tag === "Objects" || _tag === "Arrays")
        ? sent.types.flatMap((member) => fieldsOf(member, name))
        : sent.types.some(({ _tag }) => _tag === "String" || _tag === "Number")
          ? [{ name, ast }]
          : []
    case "String":
    case "Number":
      return [{ name, ast }]
    default:
      return []
  }
}

const procedures = [
  ...ClientProcedures.requests.values(),
  ...MarketDataStreamProcedures.requests.values()
] as ReadonlyArray<Rpc.AnyWithProps>

const ofProcedures = procedures.flatMap(({ _tag, payloadSchema }) =>
  fieldsOf(Schema.toCodecJson(payloadSchema).ast, _tag)
)

const ofRoutes = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) => {
  const found: Array<Field> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path, payload } }) => {
      for (const { schemas } of payload.values())
        for (const schema of schemas) found.push(...fieldsOf(Schema.toCodecJson(schema).ast, `${method} ${path}`))
    }
  })
  return found
}

const said = ({ ast }: Field, sent: unknown): ReadonlyArray<string> => {
  const schema = Schema.make<Schema.Codec<unknown>>(ast)
  return Effect.runSync(
    Effect.match(Schema.decodeUnknownEffect(schema)(sent, describedParsing), {
      onFailure: ({ issue }) => detailsOf(issue, "value"),
      onSuccess: () => []
    })
  )
}

describe("a value of a wrong type", () => {
  for (const [whose, fields, least] of [
    ["routes of v2", ofRoutes(V2), 60],
    ["routes of v1", ofRoutes(V1), 8],
    ["routes of the operator", ofRoutes(Admin), 10],
    ["procedures", ofProcedures, 20]
  ] as const) {
    it(`is answered with an example in the place of every text and number of ${whose}`, () => {
      assert.isAbove(fields.length, least)
      const silent = fields.flatMap((field) =>
        said(field, true).flatMap((line) => (/such as/u.test(line) ? [] : [`${field.name}: ${line}`]))
      )
      assert.deepStrictEqual(silent, [])
    })
  }
})
