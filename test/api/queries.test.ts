/**
 * Names in the query that a route does not have are refused, on every route of every API: read from the contracts, so a
 * new route is asked too.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { Admin } from "#http/admin/Admin.ts"
import { exampleOf } from "#http/openapi/exampleOf.ts"
import { templateOf } from "#http/templateOf.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { adminToken, Api, ApiLive } from "#test/api/support/Api.ts"

interface Route {
  readonly name: string
  readonly method: string
  /** Path with an example for each parameter. */
  readonly path: string
  readonly names: ReadonlyArray<string>
}

const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Route> => {
  const { components, paths }: any = OpenApi.fromApi(api)
  const found: Array<Route> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => {
      const template = templateOf(path)
      const parameters: ReadonlyArray<any> = paths[template][method.toLowerCase()].parameters
      const example = (name: string) =>
        String(exampleOf(parameters.find((one) => one.name === name).schema, components.schemas))
      found.push({
        name: `${method} ${template}`,
        method,
        path: template.replace(/\{(\w+)\}/gu, (_, name: string) => example(name)),
        names: parameters.filter((one) => one.in === "query").map((one) => one.name)
      })
    }
  })
  return found
}

const integrators = [...routesOf(V2), ...routesOf(V1)]
const operators = routesOf(Admin)

layer(ApiLive, { excludeTestServices: true })("an unknown name in the query", (it) => {
  const refused = Effect.fnUntraced(function* ({ method, names, path }: Route, headers: Record<string, string>) {
    const { call } = yield* Api
    const { json, status, text } = yield* call(method, `${path}?page=2&__proto__=3`, { headers })
    assert.strictEqual(status, 400, text)
    const help = names.length === 0 ? "leave it out" : `the parameters are ${names.join(", ")}`
    assert.sameMembers(json.error.details, [
      `page: is not a parameter here; ${help}`,
      `__proto__: is not a parameter here; ${help}`
    ])
  })

  it("is asked of every route", () => {
    assert.isAbove(integrators.length, 60)
    assert.isAbove(operators.length, 15)
    assert.isAbove([...integrators, ...operators].filter(({ names }) => names.length > 0).length, 10)
  })

  for (const route of integrators) {
    it.effect(`${route.name}: is refused`, () =>
      Effect.gen(function* () {
        const { key } = yield* newTenant()
        yield* refused(route, { "x-api-key": key })
      })
    )
  }

  for (const route of operators) {
    it.effect(`${route.name}: is refused`, () => refused(route, { authorization: `Bearer ${adminToken}` }))
  }

  it.effect("is not said to one who is not let in", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      for (const path of ["/v2/portfolios?page=2", "/v1/admin/tenants?page=2"])
        assert.strictEqual((yield* call("GET", path)).status, 401)
    })
  )

  it.effect("does not claim the key of a request that may be sent again", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const headers = { "idempotency-key": "once" }
      const body = { url: "https://hooks.example.com/ballast" }
      assert.strictEqual((yield* call("POST", "/v2/webhooks?page=2", { key, headers, body })).status, 400)
      assert.strictEqual((yield* call("POST", "/v2/webhooks", { key, headers, body })).status, 201)
    })
  )
})
