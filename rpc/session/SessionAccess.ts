/**
 * Middleware: a wallet session, as `Authorization: Bearer <token>` or in its cookie. It also counts the call in its
 * procedure's tier. Source: interface "Authentication" 7.
 */
import { Context, Schema } from "effect"
import { RpcMiddleware } from "effect/rpc"
import { PermissionDenied, RateLimited, SessionInvalid, TenantDisabled } from "#domain/Errors.ts"
import type { SignedIn } from "#domain/identity/SignedIn.ts"

/** `PermissionDenied` for a cookie that another origin's page made the browser send. */
export const SessionRefused = Schema.Union([SessionInvalid, TenantDisabled, PermissionDenied])

export class SessionAccess extends RpcMiddleware.Service<SessionAccess, { provides: SignedIn }>()(
  "ballast/rpc/session/SessionAccess",
  { error: Schema.Union([...SessionRefused.members, RateLimited]) }
) {}

/**
 * On a procedure that reads the session by itself, without the middleware, as one that ends it does. `Counted` where it
 * counts the session in its tier, `Uncounted` where its address alone is.
 */
export const ReadsSession = Context.Reference<"Counted" | "Uncounted" | undefined>("ballast/rpc/session/ReadsSession", {
  defaultValue: () => undefined
})
