/**
 * Details speak to the caller: every part of every request is spoilt in many ways, and each line of the answer names a
 * field that was sent, or one that is missing beside it, in words.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { legacyCode } from "#domain/errors/legacyCodes.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { endpoints } from "#test/api/support/endpoints.ts"

type Path = ReadonlyArray<string | number>

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** Every path inside a value, the value itself first. */
const placesOf = (value: unknown, at: Path = []): ReadonlyArray<Path> => [
  at,
  ...(isObject(value)
    ? Object.entries(value).flatMap(([key, part]) => placesOf(part, [...at, Array.isArray(value) ? Number(key) : key]))
    : [])
]

const replaced = (value: unknown, [key, ...rest]: Path, by: unknown): unknown => {
  if (key === undefined) return by
  const copy: any = Array.isArray(value) ? [...value] : { ...(value as object) }
  copy[key] = replaced(copy[key], rest, by)
  return copy
}

const at = (value: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)

const wrongValues = [7.5, -1, true, null, "", "x", "\u0000", "9".repeat(300), [], [[]], {}, { unknown: 1 }, ["x", "x"]]

/** What belongs into code: types, patterns, names of our own, and what no English sentence has. */
const technical = /RegExp|\^\[|\\d|<filter>|readonly|Schema|undefined|\| | & |\bRecord\b|=>|\bint\b|\ba [aeio]|got /u

layer(ApiLive, { excludeTestServices: true })("details", (it) => {
  for (const { body, method, path, route } of endpoints.filter((endpoint) => endpoint.body !== undefined)) {
    it.effect(`${route}: of a spoilt body name what was sent, in words`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key } = yield* newTenant()
        let spoilt = 0
        for (const place of placesOf(body)) {
          for (const wrong of wrongValues) {
            const sent = replaced(body, place, wrong)
            const { json, status, text } = yield* call(method, path, { key, body: sent })
            // The legacy execute routes have codes of their own.
            if (!["API_400", legacyCode("API_400", 400)].includes(json?.error?.code)) continue
            assert.strictEqual(status, 400, text)
            spoilt += 1
            for (const line of json.error.details as ReadonlyArray<string>) {
              assert.notMatch(line, /another (?:kind of )?value/u)
              const [, field, reason] = /^([^:]+): (.+)$/su.exec(line) ?? []
              assert.isDefined(reason, line)
              assert.notMatch(reason!.replace("( ) & /", ""), technical, line)
              const parent = field!.split(".").slice(0, -1)
              assert.isTrue(isObject(at(sent, parent)) || field === "body", `${line} of ${JSON.stringify(sent)}`)
            }
          }
        }
        assert.isAbove(spoilt, 3)
      })
    )
  }

  it.effect("of a path and a query name the parameter, in words", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const seen: Array<string> = []
      for (const path of [
        "/v2/strategies/x",
        "/v2/portfolios/x",
        "/v2/portfolios/pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8/operations/x",
        "/v2/strategies?limit=x",
        "/v2/strategies?limit=1&limit=2",
        "/v2/portfolios?ownerAccountId=x&strategyId=x&status=x",
        "/v2/discovery/strategies",
        "/v2/discovery/strategies?collection=x&sort=x"
      ]) {
        const { json } = yield* call("GET", path, { key })
        assert.strictEqual(json.error.code, "API_400", path)
        seen.push(...json.error.details)
      }
      for (const line of seen) assert.notMatch(line.replace(/^\w+: /u, ""), technical, line)
      assert.include(seen, "operationId: Expected the id of an operation, such as op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1")
      assert.include(seen, "limit: Expected a whole number from 1 to 200, such as 50")
    })
  )

  it.effect(
    "name the fields beside an unknown one, show an example beside a wrong type, and the order of CAIP's parts",
    () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key } = yield* newTenant()
        const detailsOf = (path: string, body: unknown) =>
          Effect.map(call("POST", path, { key, body }), ({ json }) => json.error.details as ReadonlyArray<string>)
        const address = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
        const unknown = yield* detailsOf("/v2/strategies", { name: "a", alocation: {} })
        assert.isTrue(
          unknown.some((line) => /^alocation: is not a field here; the fields are name, .*allocation/u.test(line))
        )
        const [id, weight] = yield* detailsOf("/v2/strategies", {
          name: "a",
          allocation: { assets: [{ assetId: address, weight: 50 }] }
        })
        assert.match(id!, /eip155:<chainId>\/erc20:<address>, the chain first and then the token, such as eip155:8453/u)
        assert.strictEqual(weight, 'allocation.assets.0.weight: Expected text, such as "100.00"')
        const v1 = yield* call("GET", "/v1/executions/x/stream", { key })
        assert.include(v1.text, "operationId: Expected the id of an operation, such as op_")
      })
  )
})
