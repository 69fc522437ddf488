/**
 * Who reads operations: a tenant by one of its keys, or a person by a wallet session. Provided to every handler that
 * reads executions, on every route.
 */
import { Context } from "effect"
import type { SignInWalletId } from "#domain/identity/User.ts"
import type { ApiKeyId, SessionId, TenantId } from "#domain/values/Ids.ts"

/** Which operations are there: those of the tenant, and of portfolios that the wallet owns, whatever their tenant. */
export interface ReadAccess {
  readonly tenantId: TenantId
  /** Null for a key. */
  readonly walletId: SignInWalletId | null
}

/**
 * Who reads executions: a tenant by its key, or a person by a wallet session.
 *
 * **When to use**
 *
 * Use in handlers and services that read operations for either. Handlers that keys alone may call require `Caller`,
 * procedures that sessions alone may call `SignedIn`.
 *
 * **Details**
 *
 * `credential` is what limits count by. It is never a secret.
 */
export class ExecutionReader extends Context.Service<
  ExecutionReader,
  ReadAccess & {
    /** What was presented: requests and open streams are counted under it. */
    readonly credential: ApiKeyId | SessionId
    /** What requests from the client's address are counted under. */
    readonly address: string
  }
>()("ballast/domain/execution/ExecutionReader") {}
