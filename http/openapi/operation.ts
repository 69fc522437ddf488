/** Annotates an endpoint: how it is documented, which scope it needs and in which tier it counts. */
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import type { Scope } from "#domain/values/Scopes.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { RequiredScope } from "#http/RequiredScope.ts"
import { type Responses, withoutError } from "#http/openapi/withoutError.ts"

export interface OperationOptions {
  readonly id: string
  readonly summary: string
  readonly description: string
  /** Left out: any valid key will do. `null`: no key is needed. */
  readonly scope?: Scope | null
  readonly tier: RateTier
}

const access = (scope: Scope | null | undefined): string => {
  if (scope === null) return "No API key needed."
  return scope === undefined ? "Any valid API key will do." : `Required scope: \`${scope}\`.`
}

const withoutPermissionDenied = (operation: Record<string, unknown>) => {
  withoutError(operation["responses"] as Responses, "403", "PermissionDenied")
  return operation
}

export const operation = ({ id, summary, description, scope, tier }: OperationOptions) =>
  OpenApi.annotations({
    identifier: id,
    summary,
    description: `${description}\n\n${access(scope)} Rate limit tier: ${tier}.`,
    override: { security: scope === null ? [] : [{ apiKey: [] }] },
    // Where every valid key will do, none can lack a scope.
    ...(scope === undefined ? { transform: withoutPermissionDenied } : {})
  }).pipe(Context.add(RequiredScope, scope ?? undefined), Context.add(RateTier, tier))
