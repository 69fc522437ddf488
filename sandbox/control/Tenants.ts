import { Context, Effect, Layer, Semaphore } from "effect"
import { scopes } from "#domain/values/Scopes.ts"
import { ApiProcess } from "#sandbox/service/ApiProcess.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import type { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { serviceClient } from "#sandbox/control/serviceClient.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"
import type { WorldTenant } from "#sandbox/WorldState.ts"

const residents = [
  { name: "Northwind", entitlements: [] },
  { name: "Contoso", entitlements: ["svm_b2b_api"] }
] as const

const operatorName = "Ballast"
/** The oldest tenants made by `POST /tenants` are forgotten (by the world, not by the service) beyond this many. */
const rememberedLimit = 1_000

const everyScope = scopes.map((scope) => scope.name)
const defaultTier = scopes.filter((scope) => scope.tier === "default").map((scope) => scope.name)

const weights: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  8453: { cbBTC: "25", WETH: "25", USDC: "15" },
  42161: { WETH: "15", ARB: "10", USDC: "10" }
}

const publicStrategy = {
  name: "Ballast Core",
  description: "Bitcoin, ether and dollars over Base and Arbitrum, kept on target every day.",
  allocation: {
    assets: catalog.flatMap((chain) =>
      Object.entries(weights[chain.chainId] ?? {}).map(([symbol, weight]) => ({
        assetId: chain.tokens.find((token) => token.symbol === symbol)!.assetId,
        weight
      }))
    )
  },
  schedule: { type: "interval", frequency: "daily" },
  isPublic: true
}

const emailOf = (name: string) =>
  `${
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "tenant"
  }@example.com`

/** The tenants of the world, created in the service through its admin routes. */
export class Tenants extends Context.Service<
  Tenants,
  {
    /**
     * Sees to it that the service knows the two residents and the operator with its public strategy, which is curated.
     */
    readonly provision: Effect.Effect<void, SandboxFailure>
    /** Creates a tenant with a key of every scope and a key of the default tier. */
    readonly create: (name: string, entitlements: ReadonlyArray<string>) => Effect.Effect<WorldTenant, SandboxFailure>
    /** Residents first, then those created since. */
    readonly list: Effect.Effect<ReadonlyArray<WorldTenant>>
  }
>()("ballast/sandbox/control/Tenants") {
  static readonly layer = Layer.effect(
    Tenants,
    Effect.gen(function* () {
      const file = yield* WorldFile
      const { apiBaseUrl } = yield* WorldConfig
      const { environment } = yield* ApiProcess
      const service = yield* serviceClient(apiBaseUrl, environment["ADMIN_TOKEN"] ?? "")
      const provisioning = yield* Semaphore.make(1)

      const register = Effect.fnUntraced(function* (
        name: string,
        entitlements: ReadonlyArray<string>,
        ownerAddress?: string
      ) {
        const tenantId = yield* service.createTenant(name, emailOf(name), entitlements)
        if (ownerAddress !== undefined) yield* service.setOwner(tenantId, ownerAddress)
        const apiKey = yield* service.createKey(tenantId, "Everything", everyScope)
        const readOnlyApiKey = yield* service.createKey(tenantId, "Read only", defaultTier)
        return { name, apiKey, readOnlyApiKey, entitlements }
      })

      const remember = (tenant: WorldTenant) =>
        file.update((state) => {
          const kept = state.tenants.slice(0, residents.length)
          const created = state.tenants.slice(residents.length).slice(1 - rememberedLimit)
          return { ...state, tenants: [...kept, ...created, tenant] }
        })

      /** A database that is new, or another one, knows none of the remembered keys. */
      const forgetUnknown = Effect.gen(function* () {
        const { tenants, operator } = yield* file.state
        const first = tenants[0] ?? operator?.tenant
        if (first === undefined || (yield* service.knowsKey(first.apiKey))) return
        yield* file.update(({ format, clock, prices, secrets }) => ({ format, clock, prices, secrets, tenants: [] }))
      })

      const provisionResidents = Effect.gen(function* () {
        for (const resident of residents) {
          const { tenants } = yield* file.state
          if (tenants.some((tenant) => tenant.name === resident.name)) continue
          yield* remember(yield* register(resident.name, resident.entitlements))
        }
      })

      const provisionOperator = Effect.gen(function* () {
        const { operator } = yield* file.state
        if (operator?.strategyId !== undefined) return
        const tenant = operator?.tenant ?? (yield* register(operatorName, [], environment["OPERATOR_ADDRESS"]))
        yield* file.update((state) => ({ ...state, operator: { tenant } }))
        const strategyId = yield* service.createStrategy(tenant.apiKey, publicStrategy)
        yield* service.makeMirrorable(strategyId)
        yield* service.curate([strategyId])
        yield* file.update((state) => ({ ...state, operator: { tenant, strategyId } }))
      })

      return Tenants.of({
        provision: Effect.gen(function* () {
          yield* forgetUnknown
          yield* provisionResidents
          yield* provisionOperator
        }).pipe(Semaphore.withPermit(provisioning), Effect.withSpan("Tenants.provision")),
        create: Effect.fn("Tenants.create")(function* (name, entitlements) {
          const tenant = yield* register(name, entitlements)
          yield* remember(tenant)
          return tenant
        }),
        list: Effect.map(file.state, (state) => state.tenants)
      })
    })
  )
}
