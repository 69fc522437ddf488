/**
 * Walks every endpoint of the v2 API and of v1 without a key, with a wrong key, and with a key that holds every scope
 * but the endpoint's own. The table below is written by hand: a new endpoint that is not in it fails.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Redacted } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { KeyExpired, KeyInvalid, KeyMissing, PermissionDenied, TenantDisabled } from "#domain/errors/Errors.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { type Scope, scopes } from "#domain/values/Scopes.ts"
import { RequiredScope } from "#http/RequiredScope.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"
import { DateTime } from "effect"
import { SqlClient } from "effect/sql"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"

/** Who may call what: a scope, `any` for any valid key, `public` for no key at all. */
const expected: Readonly<Record<string, Scope | "any" | "public">> = {
  "GET /v2/whoami": "any",
  "GET /v2/scopes": "public",
  "GET /v2/discovery/strategies": "any",
  "GET /v2/chains": "any",
  "GET /v2/assets": "any",
  "POST /v2/strategies": "strategies:write",
  "POST /v2/strategies/validate": "strategies:write",
  "POST /v2/strategies/backtest": "strategies:read",
  "GET /v2/strategies": "strategies:read",
  "GET /v2/strategies/:strategyId": "strategies:read",
  "PATCH /v2/strategies/:strategyId": "strategies:write",
  "DELETE /v2/strategies/:strategyId": "strategies:write",
  "POST /v2/strategies/:strategyId/restore": "strategies:write",
  "GET /v2/strategies/:strategyId/versions": "strategies:read",
  "POST /v2/strategies/:strategyId/versions": "strategies:write",
  "GET /v2/strategies/:strategyId/schedule": "strategies:read",
  "PUT /v2/strategies/:strategyId/schedule": "strategies:write",
  "GET /v2/strategies/:strategyId/preferences": "strategies:read",
  "PATCH /v2/strategies/:strategyId/preferences": "strategies:write",
  "GET /v2/strategies/:strategyId/fees": "fees:read",
  "PATCH /v2/strategies/:strategyId/fees": "fees:write",
  "GET /v2/tenant/preferences": "tenant:read",
  "PATCH /v2/tenant/preferences": "tenant:write",
  "GET /v2/tenant/fees": "fees:read",
  "PATCH /v2/tenant/fees": "fees:write",
  "POST /v2/enroll/signature": "enroll:write",
  "POST /v2/enroll": "enroll:write",
  "POST /v2/portfolios/:portfolioId/chains/signature": "enroll:write",
  "POST /v2/portfolios/:portfolioId/chains": "enroll:write",
  "POST /v2/portfolios/:portfolioId/resign/signature": "enroll:write",
  "POST /v2/portfolios/:portfolioId/resign": "enroll:write",
  "POST /v2/portfolios/:portfolioId/revoke/signature": "enroll:write",
  "POST /v2/portfolios/:portfolioId/revoke": "enroll:write",
  "GET /v2/portfolios": "portfolios:read",
  "GET /v2/portfolios/:portfolioId": "portfolios:read",
  "GET /v2/portfolios/:portfolioId/policy": "portfolios:read",
  "PATCH /v2/portfolios/:portfolioId": "portfolios:write",
  "POST /v2/portfolios/:portfolioId/start": "portfolios:write",
  "POST /v2/portfolios/:portfolioId/stop": "portfolios:write",
  "GET /v2/portfolios/:portfolioId/positions": "portfolios:read",
  "POST /v2/portfolios/:portfolioId/rebalance": "portfolios:write",
  "POST /v2/portfolios/:portfolioId/rebalance/preview": "portfolios:read",
  "POST /v2/portfolios/:portfolioId/withdraw/signature": "portfolios:withdraw",
  "POST /v2/portfolios/:portfolioId/withdraw": "portfolios:withdraw",
  "POST /v2/portfolios/:portfolioId/liquidate-all/signature": "portfolios:withdraw",
  "POST /v2/portfolios/:portfolioId/liquidate-all": "portfolios:withdraw",
  "GET /v2/portfolios/:portfolioId/operations/:operationId": "portfolios:read",
  "POST /v2/portfolios/:portfolioId/operations/:operationId/cancel": "portfolios:write",
  "GET /v2/portfolios/:portfolioId/operations": "portfolios:read",
  "GET /v2/operations": "portfolios:read",
  "GET /v2/events": "portfolios:read",
  "GET /v2/events/stream": "portfolios:read",
  "POST /v2/webhooks": "tenant:write",
  "GET /v2/webhooks": "tenant:read",
  "GET /v2/webhooks/:webhookId": "tenant:read",
  "DELETE /v2/webhooks/:webhookId": "tenant:write",
  "POST /v2/webhooks/:webhookId/rotate-secret": "tenant:write",
  "POST /v2/webhooks/:webhookId/enable": "tenant:write",
  "POST /v2/webhooks/:webhookId/test": "tenant:write",
  "GET /v2/requests": "tenant:read",
  "GET /v2/webhooks/:webhookId/deliveries": "tenant:read",
  "GET /v2/strategies/:strategyId/performance": "strategies:read",
  "GET /v2/portfolios/:portfolioId/performance": "portfolios:read",
  "GET /v2/strategies/:strategyId/mirror-terms": "tenant:read",
  "PUT /v2/strategies/:strategyId/mirror-terms": "tenant:write",
  "POST /v2/assets/allocation-breakdown": "portfolios:read",
  "GET /v1/executions/:operationId/stream": "portfolios:read",
  "GET /v1/ai/executions/:operationId/ag-ui-stream": "portfolios:read",
  "POST /v1/ai/executions/:operationId/ag-ui-stream": "portfolios:read",
  "GET /v1/portfolio/:portfolioId/automation/status": "portfolios:read",
  "GET /v1/portfolio/:portfolioId/rebalance/status": "portfolios:read",
  "POST /v1/portfolio/:portfolioId/rebalance/schedule/start": "portfolios:write",
  "POST /v1/portfolio/:portfolioId/rebalance/schedule/pause": "portfolios:write",
  "POST /v1/portfolio/:portfolioId/rebalance/schedule/resume": "portfolios:write",
  "POST /v1/portfolio/:portfolioId/rebalance/schedule/trigger": "portfolios:write",
  "POST /v1/portfolio/:portfolioId/resign": "enroll:write",
  "POST /v1/portfolio/:portfolioId/resubmit-signature": "enroll:write",
  "POST /portfolio/:portfolioId/execute": "portfolios:write",
  "GET /portfolio/:portfolioId/execute/status/:executionId": "portfolios:read"
}

interface Endpoint {
  readonly route: string
  readonly method: string
  readonly path: string
  readonly scope: Scope | undefined
}

const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Endpoint> => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      found.push({
        route: `${endpoint.method} ${endpoint.path}`,
        method: endpoint.method,
        path: endpoint.path.replaceAll(/:[A-Za-z]+/g, "x"),
        scope: Context.get(endpoint.annotations, RequiredScope)
      })
    }
  })
  return found
}

const endpoints = [...endpointsOf(V2), ...endpointsOf(V1)]

layer(ApiLive, { excludeTestServices: true })("authorization", (it) => {
  it("every endpoint has its row, and every row its endpoint", () =>
    assert.sameMembers(
      endpoints.map(({ route }) => route),
      Object.keys(expected)
    ))

  for (const { route, method, path, scope } of endpoints) {
    const row = expected[route]
    const isPublic = row === "public"

    it.effect(`${route}: ${row}`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        // A body that is no body at all shows that the key is checked first.
        const text = method === "GET" ? {} : { text: "{" }
        const anonymous = yield* call(method, path, text)
        const stranger = yield* call(method, path, { key: "bk_live_nobody", ...text })
        if (isPublic) {
          assert.strictEqual(anonymous.status, 200)
          assert.strictEqual(stranger.status, 200)
          return
        }
        assertError(anonymous, KeyMissing)
        assertError(stranger, KeyInvalid)
        assert.strictEqual(scope, row === "any" ? undefined : row)
        if (scope === undefined) return

        const tenants = yield* Tenants
        const { tenantId } = yield* tenants.create({ name: "T", email: "t@t.test", entitlements: [] })
        const others = scopes.map(({ name }) => name).filter((name) => name !== scope)
        const lacking = yield* keyWith(tenantId, others, scope)
        const refused = yield* call(method, path, { key: lacking, ...text })
        assertError(refused, PermissionDenied)
        assert.include(refused.json.error.message, scope)
      })
    )
  }

  it.effect("a revoked key stops working", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const tenants = yield* Tenants
      const { tenantId } = yield* newTenant()
      const { key, secret } = yield* tenants.createKey(tenantId, { name: "gone", scopes: [], expiresAt: null })
      yield* tenants.revokeKey(tenantId, key.apiKeyId)
      assertError(yield* call("GET", "/v2/whoami", { key: Redacted.value(secret) }), KeyInvalid)
    })
  )

  it.effect("an expired key is refused as expired", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { tenantId } = yield* newTenant()
      const expiresAt = DateTime.subtract(yield* DateTime.now, { seconds: 1 })
      const { secret } = yield* (yield* Tenants).createKey(tenantId, { name: "old", scopes: [], expiresAt })
      assertError(yield* call("GET", "/v2/whoami", { key: Redacted.value(secret) }), KeyExpired)
    })
  )

  it.effect("a disabled tenant is refused as disabled", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const { tenantId, key } = yield* newTenant()
      yield* sql`UPDATE tenants SET disabled_at = created_at WHERE tenant_id = ${tenantId}`
      assertError(yield* call("GET", "/v2/whoami", { key }), TenantDisabled)
    })
  )
})

/** A key with these scopes and without that one, which every new key may be given. */
const keyWith = Effect.fnUntraced(function* (
  tenantId: Parameters<Tenants["Service"]["createKey"]>[0],
  held: ReadonlyArray<Scope>,
  without: Scope
) {
  const sql = yield* SqlClient.SqlClient
  const { key, secret } = yield* (yield* Tenants).createKey(tenantId, {
    name: "lacking",
    scopes: held,
    expiresAt: null
  })
  yield* sql`UPDATE api_keys SET scopes = array_remove(scopes, ${without}) WHERE api_key_id = ${key.apiKeyId}`
  return Redacted.value(secret)
})
