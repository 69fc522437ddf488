/** Port: requests that clients named by a key, so that sending one again does nothing again. */
import { Context, type DateTime, Duration, type Effect } from "effect"
import type { ClaimId, TenantId } from "#domain/values/Ids.ts"

/** How long an answer is given again. */
export const idempotencyKeyRetention = Duration.hours(24)

/** A key belongs to a tenant and a route; the fingerprint of path and body shows whether it is the same request. */
export interface NamedRequest {
  readonly tenantId: TenantId
  readonly route: string
  readonly key: string
  readonly fingerprint: Uint8Array
}

export interface KeyClaim {
  readonly request: NamedRequest
  readonly claimId: ClaimId
  readonly now: DateTime.Utc
  /** A process that has not answered by then has died: the next request with the key is carried out. */
  readonly until: DateTime.Utc
}

export interface StoredAnswer {
  readonly status: number
  /** Sealed. */
  readonly body: Uint8Array
}

export type KeyState =
  | { readonly _tag: "Claimed" }
  | { readonly _tag: "InProgress" }
  /** The key names another request. */
  | { readonly _tag: "Mismatch" }
  | { readonly _tag: "Answered"; readonly answer: StoredAnswer }

/**
 * Requests that clients named by an idempotency key.
 *
 * **When to use**
 *
 * Use in middleware of routes that create. Services with keys of their own, such as request ids and nonces, need
 * none.
 */
export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /** Claims a key; of concurrent copies of a request, one succeeds. */
    readonly claim: (claim: KeyClaim) => Effect.Effect<KeyState>
    /** Keeps the answer; false when the claim is another's by now. */
    readonly complete: (claim: KeyClaim, answer: StoredAnswer) => Effect.Effect<boolean>
    /** Releases the key of a request that came to nothing. */
    readonly release: (claim: KeyClaim) => Effect.Effect<void>
    /** What is written within becomes visible as one, or not at all when it fails. */
    readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Removes at most `limit` keys older than `before`; answers how many. */
    readonly prune: (before: DateTime.Utc, limit: number) => Effect.Effect<number>
  }
>()("ballast/domain/identity/IdempotencyKeys") {}
