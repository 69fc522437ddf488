/**
 * What an API key may do. One scope guards one family of routes. Source: interface "Authentication", shapes 2.2.
 */
import { Schema } from "effect"

/** `default` comes with each new key, `standard` on request, `restricted` by commercial agreement. */
export const ScopeTier = Schema.Literals(["default", "standard", "restricted"])
export type ScopeTier = typeof ScopeTier.Type

/** All scopes in the order in which `GET /v2/scopes` lists them. */
export const scopes = [
  { name: "strategies:read", tier: "default", description: "List and view strategies" },
  { name: "strategies:write", tier: "standard", description: "Create strategies and publish versions" },
  {
    name: "portfolios:read",
    tier: "default",
    description: "List and view portfolios and positions, poll operations, break down allocations"
  },
  {
    name: "portfolios:write",
    tier: "standard",
    description: "Pause, resume and rebalance portfolios, update their metadata"
  },
  { name: "portfolios:withdraw", tier: "standard", description: "Prepare and submit user-signed withdrawals" },
  { name: "enroll:write", tier: "standard", description: "Enroll users: creates smart accounts and a portfolio" },
  { name: "tenant:read", tier: "standard", description: "Read the tenant's execution and schedule defaults" },
  { name: "tenant:write", tier: "standard", description: "Update the tenant's execution and schedule defaults" },
  { name: "fees:read", tier: "standard", description: "Read the swap-fee configuration" },
  { name: "fees:write", tier: "standard", description: "Update the swap-fee configuration" }
] as const satisfies ReadonlyArray<{ readonly name: string; readonly tier: ScopeTier; readonly description: string }>

export const Scope = Schema.Literals(scopes.map((scope) => scope.name))
export type Scope = typeof Scope.Type

/** The entitlement of tenants that may give their keys `standard` scopes themselves. */
export const standardScopes = "standard_scopes"

/** Scopes that a tenant with these entitlements may give to a key on its own. */
export const grantableScopes = (entitlements: ReadonlyArray<string>): ReadonlySet<Scope> =>
  new Set(
    scopes
      .filter(({ tier }) => tier === "default" || (tier === "standard" && entitlements.includes(standardScopes)))
      .map(({ name }) => name)
  )

/** Scopes that every new key has. */
export const defaultScopes: ReadonlyArray<Scope> = scopes
  .filter((scope) => scope.tier === "default")
  .map((scope) => scope.name)
