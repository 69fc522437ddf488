/** The commands for tenants and keys: `tenants create|list|disable|enable` and `keys create|list|rotate|revoke`. */
import { Clock, Console, DateTime, Effect, type Layer, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Tenant } from "#domain/identity/Tenant.ts"
import { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import { defaultOverlapSeconds, maxOverlapSeconds } from "#http/admin/Admin.ts"
import { defaultScopes, type Scope, scopes, type ScopeTier } from "#domain/values/Scopes.ts"
import { doctor } from "#src/cli/doctor/doctor.ts"
import { operations } from "#src/cli/operations.ts"
import { runs } from "#src/cli/runCommands.ts"
import type { RunAdmin } from "#src/cli/RunAdmin.ts"
import { solana } from "#src/cli/solana.ts"
import { table } from "#src/cli/table.ts"
import { type ListedKey, AdminFailed, type IssuedKey, TenantAdmin } from "#src/cli/TenantAdmin.ts"

const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON for machines"), Flag.withDefault(false))

const tenant = Flag.String("tenant").pipe(Flag.withDescription("Id of the tenant, tn_..."), Flag.withSchema(TenantId))

const text = (maximum: number) => Schema.String.check(Schema.isBetweenLength(1, maximum))

const print = (asJson: boolean, value: unknown, forPeople: string) =>
  Console.log(asJson ? JSON.stringify(value, undefined, 2) : forPeople)

const day = (time: DateTime.Utc | null): string =>
  time === null ? "-" : DateTime.formatIso(time).slice(0, 16).replace("T", " ")

const tenantsTable = (tenants: ReadonlyArray<Tenant>): string =>
  tenants.length === 0
    ? "There are no tenants; create one with: tenants create --name <name> --email <address>"
    : table(
        ["TENANT", "NAME", "EMAIL", "CREATED (UTC)", "STATE", "ENTITLEMENTS"],
        tenants.map((row) => [
          row.tenantId,
          row.name,
          row.email,
          day(row.createdAt),
          row.disabledAt === null ? "active" : "disabled",
          row.entitlements.join(" ")
        ])
      )

const stateOf = (key: ListedKey, now: number): string => {
  if (key.revokedAt !== null) return "revoked"
  return key.expiresAt !== null && key.expiresAt.epochMilliseconds <= now ? "expired" : "live"
}

const keysTable = (keys: ReadonlyArray<ListedKey>, now: number): string =>
  keys.length === 0
    ? "The tenant has no keys; create one with: keys create --tenant <tenantId>"
    : table(
        [
          "KEY",
          "NAME",
          "PREVIEW",
          "CREATED (UTC)",
          "EXPIRES (UTC)",
          "LAST USED (UTC)",
          "STATE",
          "REPLACED BY",
          "SCOPES"
        ],
        keys.map((key) => [
          key.apiKeyId,
          key.name,
          `${key.preview}...`,
          day(key.createdAt),
          day(key.expiresAt),
          key.lastUsedAt === null ? "never" : day(key.lastUsedAt),
          stateOf(key, now),
          key.replacedBy ?? "-",
          key.scopes.join(" ")
        ])
      )

const issuedText = (key: IssuedKey): string =>
  [
    `Key      ${key.apiKeyId}  ${key.name}`,
    `Scopes   ${key.scopes.join(" ")}`,
    `Expires  ${key.expiresAt === null ? "never" : DateTime.formatIso(key.expiresAt)}`,
    `Secret   ${Redacted.value(key.secret)}`,
    "",
    "Store the secret now: it is shown this once and kept nowhere."
  ].join("\n")

const createTenant = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(Flag.withDescription("Name of the integrator"), Flag.withSchema(text(256))),
    email: Flag.String("email").pipe(
      Flag.withDescription("Whom to write to"),
      Flag.withSchema(
        Schema.String.check(Schema.isPattern(/^[^\s@]{1,64}@[^\s@]{1,190}$/, { message: "Expected an email address" }))
      )
    ),
    entitlements: Flag.String("entitlement").pipe(
      Flag.withDescription("A commercial switch of the tenant; may be repeated"),
      Flag.withSchema(Schema.String.check(Schema.isPattern(/^[a-z0-9_]{1,64}$/))),
      Flag.between(0, 32)
    ),
    json
  },
  Effect.fn(function* ({ json, ...input }) {
    const created = yield* (yield* TenantAdmin).create(input)
    yield* print(json, created, tenantsTable([created]))
  })
).pipe(Command.withDescription("Create a tenant"))

const listTenants = Command.make(
  "list",
  { json },
  Effect.fn(function* ({ json }) {
    const tenants = yield* (yield* TenantAdmin).list
    yield* print(json, tenants, tenantsTable(tenants))
  })
).pipe(Command.withDescription("List all tenants, oldest first"))

const tenantArgument = Argument.String("tenantId").pipe(
  Argument.withDescription("Id of the tenant, tn_..."),
  Argument.withSchema(TenantId)
)

const disableTenant = Command.make(
  "disable",
  { tenantId: tenantArgument, json },
  Effect.fn(function* ({ json, tenantId }) {
    const tenant = yield* (yield* TenantAdmin).disable(tenantId)
    yield* print(json, tenant, `${tenantId} is disabled: its keys stop working within seconds.`)
  })
).pipe(Command.withDescription("Lock a tenant out; its users' portfolios go on"))

const enableTenant = Command.make(
  "enable",
  { tenantId: tenantArgument, json },
  Effect.fn(function* ({ json, tenantId }) {
    const tenant = yield* (yield* TenantAdmin).enable(tenantId)
    yield* print(json, tenant, `${tenantId} is enabled: its keys work again within seconds.`)
  })
).pipe(Command.withDescription("Let a disabled tenant in again"))

const standardTiers: ReadonlySet<ScopeTier> = new Set(["default", "standard"])

const scopesOfTier = {
  default: defaultScopes,
  standard: scopes.filter(({ tier }) => standardTiers.has(tier)).map(({ name }) => name)
}

const createKey = Command.make(
  "create",
  {
    tenant,
    name: Flag.String("name").pipe(
      Flag.withDescription("What the key is for"),
      Flag.withSchema(text(256)),
      Flag.withDefault("API key")
    ),
    scopes: Flag.Literals(
      "scope",
      scopes.map(({ name }) => name)
    ).pipe(
      Flag.withDescription("A scope beside those that every key has; may be repeated"),
      Flag.between(0, scopes.length)
    ),
    tier: Flag.Literals("tier", ["default", "standard"]).pipe(
      Flag.withDescription("All scopes of a tier; standard includes default"),
      Flag.withDefault("default")
    ),
    expires: Flag.String("expires").pipe(
      Flag.withDescription("When the key ends, in ISO 8601 such as 2027-01-31T00:00:00Z"),
      Flag.withSchema(Schema.DateTimeUtcFromString),
      Flag.optional
    ),
    json
  },
  Effect.fn(function* ({ expires, json, name, scopes, tenant, tier }) {
    const expiresAt = Option.getOrNull(expires)
    if (expiresAt !== null && expiresAt.epochMilliseconds <= (yield* Clock.currentTimeMillis)) {
      return yield* new AdminFailed({
        reason: `--expires ${DateTime.formatIso(expiresAt)} is in the past; give a later time`
      })
    }
    const wanted: ReadonlyArray<Scope> = [...new Set([...scopesOfTier[tier], ...scopes])]
    const key = yield* (yield* TenantAdmin).createKey(tenant, { name, scopes: wanted, expiresAt })
    yield* print(json, { ...key, secret: Redacted.value(key.secret) }, issuedText(key))
  })
).pipe(Command.withDescription("Create an API key; its secret is shown once"))

const maxOverlapHours = maxOverlapSeconds / 3_600

const rotateKey = Command.make(
  "rotate",
  {
    tenant,
    apiKeyId: Argument.String("apiKeyId").pipe(
      Argument.withDescription("Id of the key, key_..."),
      Argument.withSchema(ApiKeyId)
    ),
    overlapHours: Flag.Int("overlap-hours").pipe(
      Flag.withDescription(`For how long the key before works too, 0 to ${maxOverlapHours}`),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxOverlapHours }))),
      Flag.withDefault(defaultOverlapSeconds / 3_600)
    ),
    json
  },
  Effect.fn(function* ({ apiKeyId, json, overlapHours, tenant }) {
    const key = yield* (yield* TenantAdmin).rotateKey(tenant, apiKeyId, overlapHours * 3_600)
    const until = `${apiKeyId} works until ${DateTime.formatIso(key.replaces.endsAt)}; put the new key in its location.`
    yield* print(json, { ...key, secret: Redacted.value(key.secret) }, `${issuedText(key)}\n${until}`)
  })
).pipe(Command.withDescription("Make a key in the place of another, which ends after an overlap"))

const listKeys = Command.make(
  "list",
  { tenant, json },
  Effect.fn(function* ({ json, tenant }) {
    const keys = yield* (yield* TenantAdmin).listKeys(tenant)
    yield* print(json, keys, keysTable(keys, yield* Clock.currentTimeMillis))
  })
).pipe(Command.withDescription("List the keys of a tenant"))

const revokeKey = Command.make(
  "revoke",
  {
    tenant,
    apiKeyId: Argument.String("apiKeyId").pipe(
      Argument.withDescription("Id of the key, key_..."),
      Argument.withSchema(ApiKeyId)
    ),
    json
  },
  Effect.fn(function* ({ apiKeyId, json, tenant }) {
    yield* (yield* TenantAdmin).revokeKey(tenant, apiKeyId)
    yield* print(json, { apiKeyId, isRevoked: true }, `${apiKeyId} is revoked and stops working within seconds.`)
  })
).pipe(Command.withDescription("Revoke a key of a tenant"))

const tenants = Command.make("tenants").pipe(
  Command.withDescription("Integrators"),
  Command.withSubcommands([createTenant, listTenants, disableTenant, enableTenant])
)

const keys = Command.make("keys").pipe(
  Command.withDescription("API keys of a tenant"),
  Command.withSubcommands([createKey, listKeys, rotateKey, revokeKey])
)

/** The whole command line. Access to tenants, keys and runs is opened when one of their commands runs. */
export const ballast = <E, R>(access: Layer.Layer<TenantAdmin | RunAdmin, E, R>) =>
  Command.make("ballast").pipe(
    Command.withDescription("Administer tenants, their API keys and runs, and see what was done for portfolios"),
    Command.withSubcommands([
      tenants.pipe(Command.provide(access)),
      keys.pipe(Command.provide(access)),
      runs.pipe(Command.provide(access)),
      operations,
      solana,
      doctor
    ])
  )
