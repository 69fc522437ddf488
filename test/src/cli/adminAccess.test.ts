import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { ConfigProvider, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter } from "effect/http"
import { Curation } from "#domain/discovery/Curation.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import { AdminLive } from "#http/admin/AdminLive.ts"
import { Monitors } from "#domain/monitor/Monitors.ts"
import { Workflows } from "#domain/monitor/Workflows.ts"
import { Mirrorability } from "#domain/strategy/Mirrorability.ts"
import { type SuspendedRun, SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import { OperatorAccount } from "#domain/strategy/OperatorAccount.ts"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { RequestContextLive } from "#http/serving/RequestContextLive.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import { RequestIds } from "#http/serving/RequestIds.ts"
import { RequestLog } from "#http/serving/RequestLog.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import * as DiscoveryStore from "#layers/sql/discovery/DiscoveryStore.ts"
import * as MirrorabilityStore from "#layers/sql/strategy/MirrorabilityStore.ts"
import * as TenantStore from "#layers/sql/identity/TenantStore.ts"
import { adminAccess } from "#src/cli/adminAccess.ts"
import { RunAdmin } from "#src/cli/RunAdmin.ts"
import { TenantAdmin } from "#src/cli/TenantAdmin.ts"
import { nothingRefused } from "#test/support/nothingRefused.ts"

const dataDir = mkdtempSync(join(tmpdir(), "ballast-cli-"))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const adminToken = "admin-token-of-the-deployment"
const env = { DATA_DIR: dataDir, API_KEY_PEPPER: "p".repeat(64) }

/** Runs an administrator's work with the environment of a command line. */
const administer = <A, E>(
  work: (admin: TenantAdmin["Service"]) => Effect.Effect<A, E>,
  extra: Record<string, string> = {}
) =>
  Effect.flatMap(TenantAdmin, work).pipe(
    Effect.provide(adminAccess),
    Effect.provide(NodeServices.layer),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord({ ...env, ...extra }))
  )

/** Everything a command can do, against whatever is behind it. */
const wholeLife = (admin: TenantAdmin["Service"]) =>
  Effect.gen(function* () {
    const tenant = yield* admin.create({ name: "Acme", email: "ops@acme.example", entitlements: ["svm_b2b_api"] })
    assert.isTrue((yield* admin.list).some(({ tenantId }) => tenantId === tenant.tenantId))
    const expiresAt = DateTime.makeUnsafe("2040-01-01T00:00:00Z")
    const key = yield* admin.createKey(tenant.tenantId, { name: "main", scopes: ["enroll:write"], expiresAt })
    assert.match(Redacted.value(key.secret), /^bk_live_[A-Za-z0-9_-]{43}$/)
    assert.sameMembers([...key.scopes], ["strategies:read", "portfolios:read", "enroll:write"])
    const rotated = yield* admin.rotateKey(tenant.tenantId, key.apiKeyId, 3_600)
    assert.notStrictEqual(Redacted.value(rotated.secret), Redacted.value(key.secret))
    assert.strictEqual(rotated.replaces.apiKeyId, key.apiKeyId)
    assert.isAbove(rotated.replaces.endsAt.epochMilliseconds, 0)
    const twice = yield* Effect.flip(admin.rotateKey(tenant.tenantId, key.apiKeyId, 3_600))
    assert.include(twice.message, `was rotated into ${rotated.apiKeyId} already`)
    const [, old] = yield* admin.listKeys(tenant.tenantId)
    assert.strictEqual(old!.replacedBy, rotated.apiKeyId)
    assert.deepStrictEqual(old!.expiresAt, rotated.replaces.endsAt)
    yield* admin.revokeKey(tenant.tenantId, rotated.apiKeyId)
    const [listed] = yield* admin.listKeys(tenant.tenantId)
    assert.strictEqual(listed!.apiKeyId, rotated.apiKeyId)
    assert.isNotNull(listed!.revokedAt)
    assert.isNull(listed!.lastUsedAt)
    assert.isAtLeast(listed!.expiresAt!.epochMilliseconds, expiresAt.epochMilliseconds)
    assert.isNotNull((yield* admin.disable(tenant.tenantId)).disabledAt)
    assert.isNotNull((yield* admin.list).find(({ tenantId }) => tenantId === tenant.tenantId)?.disabledAt)
    assert.deepStrictEqual(yield* admin.enable(tenant.tenantId), tenant)
    const unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    const notDisabled = yield* Effect.flip(admin.disable(`tn_${unknown}` as TenantId))
    assert.include(notDisabled.message, `There is no tenant tn_${unknown}`)
    const noTenant = yield* Effect.flip(admin.listKeys(`tn_${unknown}` as TenantId))
    assert.include(noTenant.message, `There is no tenant tn_${unknown}`)
    const noKey = yield* Effect.flip(admin.revokeKey(tenant.tenantId, `key_${unknown}` as ApiKeyId))
    assert.include(noKey.message, `has no key key_${unknown}`)
  })

const suspended: SuspendedRun = {
  executionId: "0f0f",
  workflow: "Rebalance",
  operationId: "op_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  suspendedAt: DateTime.makeUnsafe("2026-01-02T03:04:05Z"),
  cause: "Error: a fault of ours",
  tries: 10,
  steps: 3
}

const runs: SuspendedRuns["Service"] = {
  count: Effect.succeed(1),
  list: () => Effect.succeed([suspended]),
  find: (id) => Effect.succeed(id === suspended.operationId ? Option.some(suspended) : Option.none()),
  resume: (id) => Effect.succeed(id === suspended.operationId),
  cancel: (id) =>
    Effect.succeed(id === suspended.operationId ? "Requested" : id === "watch" ? "NotCancellable" : "Unknown")
}

/** What a command can do with runs, against a service that has one that is suspended. */
const operateRuns = Effect.gen(function* () {
  const admin = yield* RunAdmin
  assert.deepStrictEqual(yield* admin.list, [suspended])
  assert.deepStrictEqual(yield* admin.find("op_01ARZ3NDEKTSV4RRFFQ69G5FAV"), Option.some(suspended))
  assert.deepStrictEqual(yield* admin.find("unknown"), Option.none())
  assert.isTrue(yield* admin.resume("op_01ARZ3NDEKTSV4RRFFQ69G5FAV"))
  assert.isFalse(yield* admin.resume("unknown"))
  assert.strictEqual(yield* admin.cancel("op_01ARZ3NDEKTSV4RRFFQ69G5FAV"), "Requested")
  assert.strictEqual(yield* admin.cancel("watch"), "NotCancellable")
  assert.strictEqual(yield* admin.cancel("unknown"), "Unknown")
})

/** What a service does first of all. */
const migrated = Migrations.layer.pipe(
  Layer.provide(Database.layer),
  Layer.provide(Layer.succeed(DatabaseConfig, { url: null, dataDir, maxConnections: 1 }))
)

/** A service with the embedded database of `dataDir`; answers its address. */
const service = Effect.gen(function* () {
  const server = createServer()
  // The command line has no words for workflows.
  const workflows = Layer.merge(Layer.mock(Monitors, {}), Layer.mock(Workflows, {}))
  const tenants = Layer.mergeAll(Tenants.layer, Curation.layer, Mirrorability.layer, workflows).pipe(
    Layer.provide([
      TenantStore.layer,
      DiscoveryStore.layer,
      MirrorabilityStore.layer,
      KeyHashLive,
      AccessChanges.layer
    ]),
    Layer.merge(Layer.succeed(SuspendedRuns, runs)),
    Layer.provide(Layer.succeed(OperatorAccount, { address: null })),
    Layer.provide(SecureRandom.layerWebCrypto),
    Layer.provide(Migrations.layer),
    Layer.provide(Database.layer),
    Layer.provide([
      Layer.succeed(DatabaseConfig, { url: null, dataDir, maxConnections: 1 }),
      Layer.succeed(KeyHashConfig, { pepper: Redacted.make(env.API_KEY_PEPPER) })
    ])
  )
  const routes = AdminLive.pipe(
    Layer.provide(RequestContextLive),
    Layer.provide([RateLimits.layerMemory, RequestIds.layer, RequestLog.layer.pipe(Layer.provide(nothingRefused))]),
    Layer.provide([
      tenants,
      OperatorToken.layer(Redacted.make(adminToken)),
      Layer.succeed(RateLimitSettings, { global: 1_000, critical: 1_000, general: 1_000, burst: 1_000 })
    ])
  )
  yield* Layer.build(
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(NodeHttpServer.layer(() => server, { port: 0, host: "127.0.0.1" })),
      Layer.provide(SecureRandom.layerWebCrypto)
    )
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

describe("adminAccess", () => {
  it.live("makes no database where there is none, and says what to do", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(administer((admin) => admin.list))
      assert.include(refused.message, `There is no database in DATA_DIR, ${dataDir}`)
      assert.isFalse(existsSync(join(dataDir, "postgres")))
    })
  )

  it.live("works on the database when no service runs", () =>
    Effect.andThen(Effect.scoped(Layer.build(migrated)), administer(wholeLife))
  )

  it.live("makes no key without the pepper, but does the rest", () =>
    administer(
      (admin) =>
        Effect.gen(function* () {
          const [tenant] = yield* admin.list
          const refused = yield* Effect.flip(
            admin.createKey(tenant!.tenantId, { name: "main", scopes: [], expiresAt: null })
          )
          assert.include(refused.message, "API_KEY_PEPPER is not set")
        }),
      { API_KEY_PEPPER: "" }
    )
  )

  it.live("works through the service that holds the database", () =>
    Effect.gen(function* () {
      const adminUrl = yield* service
      const lost = yield* Effect.flip(administer((admin) => admin.list))
      assert.include(lost.message, "is in use by another process")
      assert.include(lost.message, "BALLAST_ADMIN_URL")

      writeFileSync(join(dataDir, "service.json"), JSON.stringify({ adminUrl, adminToken }))
      yield* administer(wholeLife)

      yield* administer((admin) => admin.list, { BALLAST_ADMIN_URL: adminUrl, ADMIN_TOKEN: adminToken })
      yield* operateRuns.pipe(
        Effect.provide(adminAccess),
        Effect.provide(NodeServices.layer),
        Effect.provideService(
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromEnvRecord({ ...env, BALLAST_ADMIN_URL: adminUrl, ADMIN_TOKEN: adminToken })
        )
      )
      const wrong = { BALLAST_ADMIN_URL: adminUrl, ADMIN_TOKEN: "another-token-of-24-characters" }
      assert.include(
        (yield* Effect.flip(administer((admin) => admin.list, wrong))).message,
        "The admin token is not valid"
      )
      const away = { BALLAST_ADMIN_URL: "http://127.0.0.1:9", ADMIN_TOKEN: adminToken }
      assert.include((yield* Effect.flip(administer((admin) => admin.list, away))).message, "cannot be reached")
    }).pipe(Effect.scoped)
  )
})
