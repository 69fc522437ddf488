import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Console, DateTime, Effect, Exit, Layer, Option, Redacted } from "effect"
import { Command } from "effect/cli"
import type { ApiKey, Tenant } from "#domain/identity/Tenant.ts"
import type { NewKey, NewTenant } from "#domain/identity/Tenants.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import type { SuspendedRun } from "#domain/operation/SuspendedRuns.ts"
import { ballast } from "#src/cli/commands.ts"
import { RunAdmin } from "#src/cli/RunAdmin.ts"
import { AdminFailed, TenantAdmin } from "#src/cli/TenantAdmin.ts"

const tenantId = "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV" as TenantId
const apiKeyId = "key_01ARZ3NDEKTSV4RRFFQ69G5FAV" as ApiKeyId
const createdAt = DateTime.makeUnsafe("2026-01-02T03:04:05Z")
const tenant: Tenant = {
  tenantId,
  name: "Acme",
  email: "ops@acme.example",
  entitlements: [],
  createdAt,
  disabledAt: null
}
const key: ApiKey = {
  apiKeyId,
  tenantId,
  name: "main",
  preview: "bk_live_abcd",
  scopes: ["strategies:read"],
  createdAt,
  expiresAt: DateTime.makeUnsafe("1969-01-01T00:00:00Z"),
  revokedAt: null,
  lastUsedAt: null,
  replacedBy: null,
  environment: "live"
}

const suspended: SuspendedRun = {
  executionId: "0f0f",
  workflow: "Rebalance",
  operationId: "op_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  suspendedAt: createdAt,
  cause: "Error: a fault of ours\n    at somewhere",
  tries: 10,
  steps: 3
}

/** Runs one command line over a service of the test; answers what it printed, asked for, and how it ended. */
const run = (line: string) =>
  Effect.gen(function* () {
    const printed: Array<string> = []
    const asked: Array<unknown> = []
    const note = (...call: ReadonlyArray<unknown>) => Effect.sync(() => void asked.push(call))
    const admin = TenantAdmin.of({
      create: (input: NewTenant) => Effect.as(note("create", input), tenant),
      list: Effect.succeed([tenant]),
      disable: (id: TenantId) => Effect.as(note("disable", id), { ...tenant, disabledAt: createdAt }),
      enable: (id: TenantId) => Effect.as(note("enable", id), tenant),
      createKey: (id: TenantId, input: NewKey) =>
        Effect.as(note("createKey", id, input), { ...input, apiKeyId, secret: Redacted.make("bk_live_secret") }),
      rotateKey: (id: TenantId, of: ApiKeyId, overlapSeconds: number) =>
        Effect.as(note("rotateKey", id, of, overlapSeconds), {
          ...key,
          expiresAt: null,
          secret: Redacted.make("bk_live_next"),
          replaces: { apiKeyId: of, endsAt: DateTime.makeUnsafe("2026-01-03T00:00:00Z") }
        }),
      listKeys: () => Effect.succeed([key]),
      revokeKey: () => Effect.fail(new AdminFailed({ reason: "There is no such key" }))
    })
    const runAdmin = RunAdmin.of({
      list: Effect.succeed([suspended]),
      find: (id) => Effect.as(note("find", id), id === suspended.operationId ? Option.some(suspended) : Option.none()),
      resume: (id) => Effect.as(note("resume", id), id === suspended.operationId),
      cancel: (id) =>
        Effect.as(
          note("cancel", id),
          id === suspended.operationId ? "Requested" : id === "op_watch" ? "NotCancellable" : "Unknown"
        )
    })
    const write = (text: string) => void printed.push(text)
    const console = { ...(yield* Console.Console), log: write, error: write } as Console.Console
    const access = Layer.merge(Layer.succeed(TenantAdmin, admin), Layer.succeed(RunAdmin, runAdmin))
    const exit = yield* Command.runWith(ballast(access), { version: "0" })(line.split(" ")).pipe(
      Effect.provideService(Console.Console, console),
      Effect.provide(NodeServices.layer),
      Effect.exit
    )
    return { printed: printed.join("\n"), asked, exit }
  })

describe("ballast runs", () => {
  it.effect("lists what is suspended, shows why, and lets it go on", () =>
    Effect.gen(function* () {
      const listed = yield* run("runs list")
      assert.include(listed.printed, "op_01ARZ3NDEKTSV4RRFFQ69G5FAV")
      assert.include(listed.printed, "a fault of ours")
      assert.notInclude(listed.printed, "at somewhere")
      const shown = yield* run("runs show op_01ARZ3NDEKTSV4RRFFQ69G5FAV")
      assert.include(shown.printed, "at somewhere")
      const resumed = yield* run("runs resume op_01ARZ3NDEKTSV4RRFFQ69G5FAV")
      assert.deepStrictEqual(resumed.asked, [["resume", "op_01ARZ3NDEKTSV4RRFFQ69G5FAV"]])
      assert.isTrue(Exit.isSuccess(resumed.exit))
      assert.isTrue(Exit.isFailure((yield* run("runs resume op_unknown")).exit))
    })
  )

  it.effect("cancels what is suspended, and says why it does not", () =>
    Effect.gen(function* () {
      const cancelled = yield* run("runs cancel op_01ARZ3NDEKTSV4RRFFQ69G5FAV")
      assert.deepStrictEqual(cancelled.asked, [["cancel", "op_01ARZ3NDEKTSV4RRFFQ69G5FAV"]])
      assert.include(cancelled.printed, "ends as cancelled")
      for (const [line, reason] of [
        ["runs cancel op_unknown", "No suspended run has the id op_unknown"],
        ["runs cancel op_watch", "cannot be cancelled"]
      ] as const) {
        const { exit } = yield* run(line)
        assert.include(Exit.isFailure(exit) ? (Cause.squash(exit.cause) as Error).message : "", reason)
      }
    })
  )
})

describe("ballast", () => {
  it.effect("creates a tenant with its entitlements", () =>
    Effect.gen(function* () {
      const { asked, printed } = yield* run(
        "tenants create --name Acme --email ops@acme.example --entitlement svm_b2b_api --entitlement other"
      )
      assert.deepStrictEqual(asked, [
        ["create", { name: "Acme", email: "ops@acme.example", entitlements: ["svm_b2b_api", "other"] }]
      ])
      assert.include(printed, tenantId)
    })
  )

  it.effect("lists as a table, or as JSON", () =>
    Effect.gen(function* () {
      assert.match(
        (yield* run("tenants list")).printed,
        /^TENANT +NAME +EMAIL .*\ntn_01ARZ3NDEKTSV4RRFFQ69G5FAV {2}Acme .* 2026-01-02 03:04 {2}active$/
      )
      const [listed] = JSON.parse((yield* run("tenants list --json")).printed)
      assert.strictEqual(listed.tenantId, tenantId)
      assert.strictEqual(listed.createdAt, "2026-01-02T03:04:05.000Z")
      assert.include((yield* run(`keys list --tenant ${tenantId}`)).printed, "expired")
    })
  )

  it.effect("disables and enables a tenant", () =>
    Effect.gen(function* () {
      const disabled = yield* run(`tenants disable ${tenantId}`)
      assert.deepStrictEqual(disabled.asked, [["disable", tenantId]])
      assert.include(disabled.printed, `${tenantId} is disabled`)
      const enabled = yield* run(`tenants enable ${tenantId} --json`)
      assert.deepStrictEqual(enabled.asked, [["enable", tenantId]])
      assert.isNull(JSON.parse(enabled.printed).disabledAt)
    })
  )

  it.effect("creates a key with the scopes of a tier and those named, and shows its secret", () =>
    Effect.gen(function* () {
      const one = yield* run(`keys create --tenant ${tenantId} --scope enroll:write --scope strategies:read`)
      assert.deepStrictEqual(one.asked, [
        [
          "createKey",
          tenantId,
          { name: "API key", scopes: ["strategies:read", "portfolios:read", "enroll:write"], expiresAt: null }
        ]
      ])
      assert.include(one.printed, "bk_live_secret")
      assert.include(one.printed, "shown this once")
      const all = yield* run(`keys create --tenant ${tenantId} --tier standard --expires 2030-01-01T00:00:00Z --json`)
      const printed = JSON.parse(all.printed)
      assert.strictEqual(printed.secret, "bk_live_secret")
      assert.strictEqual(printed.expiresAt, "2030-01-01T00:00:00.000Z")
      assert.include(printed.scopes, "fees:write")
    })
  )

  it.effect("rotates a key with the overlap that is asked for, and says when the one before ends", () =>
    Effect.gen(function* () {
      const asked = yield* run(`keys rotate --tenant ${tenantId} ${apiKeyId} --overlap-hours 2`)
      assert.deepStrictEqual(asked.asked, [["rotateKey", tenantId, apiKeyId, 7_200]])
      assert.include(asked.printed, "bk_live_next")
      assert.include(asked.printed, `${apiKeyId} works until 2026-01-03T00:00:00.000Z`)
      const usual = yield* run(`keys rotate --tenant ${tenantId} ${apiKeyId} --json`)
      assert.deepStrictEqual(usual.asked, [["rotateKey", tenantId, apiKeyId, 86_400]])
      assert.strictEqual(JSON.parse(usual.printed).secret, "bk_live_next")
    })
  )

  it.effect("shows when a key was last used, and by which it was replaced", () =>
    Effect.gen(function* () {
      const { printed } = yield* run(`keys list --tenant ${tenantId}`)
      assert.match(printed, /LAST USED \(UTC\).*REPLACED BY/u)
      assert.include(printed, "never")
    })
  )

  it.effect("refuses what is not valid before anything is asked", () =>
    Effect.gen(function* () {
      for (const line of [
        "keys create --tenant nobody",
        `keys create --tenant ${tenantId} --scope everything`,
        `keys create --tenant ${tenantId} --expires 1960-01-01T00:00:00Z`,
        "tenants create --name Acme --email nobody",
        "tenants disable nobody",
        "tenants enable",
        `keys revoke --tenant ${tenantId} main`,
        `keys rotate --tenant ${tenantId} ${apiKeyId} --overlap-hours 721`,
        `keys rotate --tenant ${tenantId} main`
      ]) {
        const { asked, exit } = yield* run(line)
        assert.isTrue(Exit.isFailure(exit), line)
        assert.deepStrictEqual(asked, [], line)
      }
    })
  )

  it.effect("fails with the reason", () =>
    Effect.gen(function* () {
      const { exit } = yield* run(`keys revoke --tenant ${tenantId} ${apiKeyId}`)
      assert.isTrue(Exit.isFailure(exit))
      if (Exit.isFailure(exit)) assert.strictEqual((Cause.squash(exit.cause) as Error).message, "There is no such key")
    })
  )
})
