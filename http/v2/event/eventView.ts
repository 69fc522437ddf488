/** An event of the tenant's log as v2 shows it. */
import { DateTime } from "effect"
import type { TenantEvent } from "#domain/event/TenantEvent.ts"

export const eventView = ({ at, body, operationId, portfolioId, sequence, strategyId }: TenantEvent) => ({
  eventId: String(sequence),
  at: DateTime.formatIso(at),
  operationId,
  portfolioId,
  strategyId,
  ...body
})
