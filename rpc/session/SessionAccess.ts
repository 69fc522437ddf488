/**
 * Middleware: a wallet session, as `Authorization: Bearer <token>` or in its cookie. It also counts the call in its
 * procedure's tier. Source: interface "Authentication" 7.
 */
import { Context, Schema } from "effect"
import { RpcMiddleware } from "effect/rpc"
import { PermissionDenied, RateLimited, SessionInvalid, TenantDisabled } from "#domain/errors/Errors.ts"
import type { PresentedSession } from "#domain/identity/access/RequestSession.ts"
import type { SignedIn } from "#domain/identity/SignedIn.ts"

/** `PermissionDenied` for a cookie that another origin's page made the browser send. */
const SessionRefused = Schema.Union([SessionInvalid, TenantDisabled, PermissionDenied])

export class SessionAccess extends RpcMiddleware.Service<SessionAccess, { provides: SignedIn }>()(
  "ballast/rpc/session/SessionAccess",
  { error: Schema.Union([...SessionRefused.members, RateLimited]) }
) {}

/** A session with the token that it was presented by, for procedures that replace or end it. */
export class Presented extends Context.Service<Presented, PresentedSession>()("ballast/rpc/session/Presented") {}

/** Middleware: the same, for these procedures. */
export class PresentedAccess extends RpcMiddleware.Service<PresentedAccess, { provides: Presented }>()(
  "ballast/rpc/session/PresentedAccess",
  { error: Schema.Union([...SessionRefused.members, RateLimited]) }
) {}

/**
 * Annotation of a procedure with that middleware whose calls count for their address alone, and not for the session.
 */
export const IsUncounted = Context.Reference<boolean>("ballast/rpc/session/IsUncounted", { defaultValue: () => false })
