/** Port: where refused requests are kept. */
import { Context, type DateTime, type Effect } from "effect"
import type { PageRequest } from "#domain/values/Cursor.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"

export interface RefusedRequest {
  readonly tenantId: TenantId
  readonly apiKeyId: ApiKeyId
  /** Time of the answer. */
  readonly at: DateTime.Utc
  /** The answer's `X-Request-Id`; of one of several calls in a request, with the call (`callOf`). */
  readonly requestId: string
  readonly correlationId: string
  readonly method: string
  /** The template, such as `/v2/portfolios/{portfolioId}`; never the path. */
  readonly route: string
  readonly status: number
  /** Null when the answer had none. */
  readonly code: string | null
  /** Message as it was answered, without its details; null when the answer had none. */
  readonly message: string | null
  readonly milliseconds: number
}

export interface RefusedRequestFilter {
  readonly code?: string | undefined
  readonly apiKeyId?: ApiKeyId | undefined
  readonly since?: DateTime.Utc | undefined
}

/**
 * Where refused requests are kept.
 *
 * **When to use**
 *
 * Use in `RefusedRequests` alone.
 */
export class RefusedRequestStore extends Context.Service<
  RefusedRequestStore,
  {
    /** Stores the requests by one statement. */
    readonly insert: (requests: ReadonlyArray<RefusedRequest>) => Effect.Effect<void>
    /** Newest first; one row more than the limit when there is a next page. */
    readonly list: (
      tenantId: TenantId,
      filter: RefusedRequestFilter,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<RefusedRequest>>
    /** Removes at most `limit` requests older than `before`; answers how many. */
    readonly prune: (before: DateTime.Utc, limit: number) => Effect.Effect<number>
  }
>()("ballast/domain/request/RefusedRequestStore") {}
