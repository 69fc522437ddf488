/**
 * Which strategies a tenant may read: its own, and the public ones of others. Source: interface "Strategy read routes".
 */
import type { TenantId } from "#domain/Ids.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"

export const isAccessible = (
  { tenantId, isPublic }: Pick<Strategy, "tenantId" | "isPublic">,
  caller: TenantId
): boolean => tenantId === caller || isPublic
