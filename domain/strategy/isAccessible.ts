/** Which strategies a tenant may read and enroll users into: its own, and the public ones. Source: interface "enroll/signature". */
import type { TenantId } from "#domain/Ids.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"

export const isAccessible = ({ tenantId, isPublic }: Strategy, caller: TenantId): boolean =>
  tenantId === caller || isPublic
