import "effect/schema/SchemaJITCompiler/enable"
import { NodeCrypto, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { Enrollments } from "#domain/enrollment/Enrollments.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { Readiness } from "#domain/Readiness.ts"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { AdminSettings } from "#http/admin/AdminSettings.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { RateLimitSettings } from "#http/middleware/RateLimitSettings.ts"
import { routerConfig } from "#http/routerSettings.ts"
import { Routes } from "#http/Routes.ts"
import { ServerContext } from "#http/ServerContext.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"

const mode = process.argv[2]
const port = Number(process.argv[3])
const body = JSON.stringify({ success: true, data: { tenantName: "N", tenantEmail: "a@b", apiKeyId: "key_01JQ8ZQ4T6V8X0Z2B4D6F8H0K2", scopes: ["strategies:read", "portfolios:read"] } })
if (mode === "bare") {
  createServer((_req, res) => {
    res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body), "x-correlation-id": "4bf92f3577b34da6a3ce929d0e0e4736", "x-request-id": "4bf92f3577b34da6a3ce929d0e0e4736" })
    res.end(body)
  }).listen(port, "127.0.0.1")
} else {
  const now = DateTime.makeUnsafe(0)
  const noop: any = new Proxy({}, { get: () => () => Effect.die("x") })
  const store = Layer.succeed(TenantStore, { ...noop, findKeyByHash: () => Effect.succeed(Option.some({ key: { apiKeyId: "key_01JQ8ZQ4T6V8X0Z2B4D6F8H0K2", tenantId: "t", name: "n", preview: "", scopes: ["strategies:read", "portfolios:read"], createdAt: now, expiresAt: null, revokedAt: null }, tenant: { tenantId: "t", name: "N", email: "a@b", entitlements: [], createdAt: now, disabledAt: null } } as any)) } as any)
  const pf: any = { portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8", name: "x", ownerAccountId: "eip155:0:0x52908400098527886E0F7030069857D2E4169EE7", strategyId: "01JQ8ZKX4V6T3M9N2C5B7D8F0G", strategyName: "s", strategyDescription: null, strategyVersion: 1, smartAccounts: ["eip155:1:0x52908400098527886E0F7030069857D2E4169EE7"], schedule: { status: "active", frequency: "daily", nextDueAt: now, lastRebalanceAt: null }, createdAt: now, updatedAt: now }
  const services = Layer.mergeAll(
    ApiKeys.layer.pipe(Layer.provide(store), Layer.provide(KeyHashLive), Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make("pepper") }))),
    Layer.succeed(Tenants, noop), Layer.succeed(Strategies, noop), Layer.succeed(Enrollments, noop), Layer.succeed(PositionReader, noop), Layer.succeed(Rebalances, noop), Layer.succeed(Operations, noop),
    Layer.succeed(Portfolios, { ...noop, get: () => Effect.succeed(pf) }), Layer.succeed(Readiness, { check: Effect.succeed({ ready: true, checks: {} }) }),
    Layer.succeed(AdminSettings, { token: Redacted.make("x") }), Layer.succeed(DocsSettings, { publicUrl: "http://localhost" }),
    Layer.succeed(RateLimitSettings, { global: 1e9, critical: 1e9, general: 1e9, burst: 1e9 })
  )
  HttpRouter.serve(Routes, { disableLogger: true, disableListenLog: true, routerConfig }).pipe(
    Layer.provide(ServerContext), Layer.provide(services), Layer.provide(NodeCrypto.layer),
    Layer.provide(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" })), Layer.launch, NodeRuntime.runMain
  )
}
