/** Annotates an endpoint: how it is documented, which scope it needs and in which tier it counts. */
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import type { Scope } from "#domain/Scopes.ts"
import { RateTier } from "#http/RateTier.ts"
import { RequiredScope } from "#http/RequiredScope.ts"

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

export const operation = ({ id, summary, description, scope, tier }: OperationOptions) =>
  OpenApi.annotations({
    identifier: id,
    summary,
    description: `${description}\n\n${access(scope)} Rate limit tier: ${tier}.`,
    override: { security: scope === null ? [] : [{ apiKey: [] }] }
  }).pipe(Context.add(RequiredScope, scope ?? undefined), Context.add(RateTier, tier))
