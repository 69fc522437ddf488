/**
 * Into which strategies a tenant may enroll users: its own, and the public ones of others that may be mirrored.
 * Source: interface "enroll/signature" and "Internal admin routes".
 */
import type { TenantId } from "#domain/Ids.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"

export const isEnrollable = (
  { canMirror, isPublic, tenantId }: Pick<Strategy, "tenantId" | "isPublic" | "canMirror">,
  caller: TenantId
): boolean => tenantId === caller || (isPublic && canMirror)
