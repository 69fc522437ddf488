/** Port: the assets of the catalogue that the public may follow. */
import { Context, type Effect } from "effect"
import type { PublicAsset } from "#domain/stream/PublicAsset.ts"

/**
 * Assets that the public may follow.
 *
 * **When to use**
 *
 * Use in the API, to send the worker the list of assets.
 */
export class PublicAssets extends Context.Service<
  PublicAssets,
  { readonly all: Effect.Effect<ReadonlyArray<PublicAsset>> }
>()("ballast/domain/stream/PublicAssets") {}
