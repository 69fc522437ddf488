import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { Tenants } from "#domain/identity/Tenants.ts"
import { scopes } from "#domain/Scopes.ts"
import { adminToken, Api, ApiLive } from "#test/contract/support/Api.ts"
import { Redacted } from "effect"

layer(ApiLive, { excludeTestServices: true })("smoke", (it) => {
  it.effect("works", () => Effect.gen(function* () {
    const api = yield* Api
    const show = (n: string, a: any) => console.log(n, a.status, a.text.slice(0, 700), JSON.stringify(Object.fromEntries(a.headers)))
    const t = yield* (yield* Tenants).create({ name: "N", email: "a@b", entitlements: [] })
    const { secret } = yield* (yield* Tenants).createKey(t.tenantId, { name: "k", scopes: scopes.map((s) => s.name), expiresAt: null })
    const key = Redacted.value(secret)
    show("whoami", yield* api.call("GET", "/v2/whoami", { key }))
    show("scopes", yield* api.call("GET", "/v2/scopes"))
    show("nokey", yield* api.call("GET", "/v2/whoami"))
    show("404", yield* api.call("GET", "/v2/nope?x=1"))
    show("404v1", yield* api.call("GET", "/v1/nope"))
    show("case", yield* api.call("GET", "/V2/scopes"))
    show("bad", yield* api.call("POST", "/v2/strategies", { key, body: { zz: 1, name: "", allocation: { assets: [{ assetId: "x", weight: 1 }] }, preferences: { swap: { slippageBps: 5000 } } } }))
    show("badjson", yield* api.call("POST", "/v2/strategies", { key, text: "{" }))
    show("415", yield* api.call("POST", "/v2/strategies", { key, text: "{", headers: { "content-type": "text/plain" } }))
    show("413", yield* api.call("POST", "/v2/strategies", { key, text: "x".repeat(70_000) }))
    show("limit", yield* api.call("GET", "/v2/strategies?limit=abc", { key }))
    show("limit", yield* api.call("GET", "/v2/strategies?limit=1&limit=2", { key }))
    show("cursor", yield* api.call("GET", "/v2/strategies?cursor=abc", { key }))
    show("list", yield* api.call("GET", "/v2/strategies", { key }))
    show("pf", yield* api.call("GET", "/v2/portfolios/pf_1", { key }))
    show("pf", yield* api.call("GET", "/v2/portfolios/pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8", { key }))
    show("start", yield* api.call("POST", "/v2/portfolios/pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8/start", { key }))
    show("start[]", yield* api.call("POST", "/v2/portfolios/pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8/start", { key, body: [] }))
    show("start{}", yield* api.call("POST", "/v2/portfolios/pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8/start", { key, body: {} }))
    show("admin", yield* api.call("GET", "/v1/admin/tenants"))
    show("admin", yield* api.call("GET", "/v1/admin/tenants", { headers: { authorization: "Bearer x" } }))
    show("admin", yield* api.call("GET", "/v1/admin/tenants", { headers: { authorization: `Bearer ${adminToken}` } }))
    show("admin", yield* api.call("POST", "/v1/admin/tenants", { body: { a: 1 }, headers: { authorization: `Bearer ${adminToken}` } }))
    show("live", yield* api.call("GET", "/health/live"))
    show("ready", yield* api.call("GET", "/health/ready"))
    show("llms", yield* api.call("GET", "/v2/llms.txt"))
    show("docs", yield* api.call("GET", "/v2/docs"))
    show("openapi", yield* api.call("GET", "/v2/openapi.json"))
  }))
})
