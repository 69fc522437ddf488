import { Effect, Layer, type Redacted } from "effect"
import { AdminFailed, TenantAdmin } from "#src/cli/TenantAdmin.ts"
export const serviceAdmin = (adminUrl: string, adminToken: Redacted.Redacted) => Layer.effect(TenantAdmin, Effect.fail(new AdminFailed({ reason: `${adminUrl}${adminToken}` })))
