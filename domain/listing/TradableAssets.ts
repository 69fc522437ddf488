/**
 * What integrators may name in allocations: the assets of the deployment's token lists, and why some are not traded.
 */
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import type { AssetKind } from "#domain/asset/CanonicalAsset.ts"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import { Chains, requireSupported } from "#domain/chain/Chains.ts"
import * as Cursor from "#domain/values/Cursor.ts"
import type { CursorInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { type ShownPrice, ShownPrices } from "#domain/listing/ShownPrices.ts"
import { SkipCode } from "#domain/values/Skip.ts"

export interface AssetQuery extends Cursor.PageQuery {
  /** Part of a symbol or name, or a whole address, in any case. */
  readonly search?: string | undefined
  readonly chainId?: ChainId | undefined
  readonly kind?: AssetKind | undefined
}

export interface AssetSelection {
  readonly search: string | null
  readonly chainIds: ReadonlyArray<ChainId>
  readonly kind: AssetKind | null
}

/** An asset, and of what kind it is; null where the catalogue does not say. */
export interface ClassifiedAsset extends Asset {
  readonly kind: AssetKind | null
}

/**
 * Port: the assets of the token lists.
 *
 * **When to use**
 *
 * Use in `TradableAssets` alone.
 */
export class TradableAssetStore extends Context.Service<
  TradableAssetStore,
  {
    /** Ordered by id, from behind `after` on. */
    readonly list: (
      selection: AssetSelection,
      after: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ClassifiedAsset>>
  }
>()("ballast/domain/listing/TradableAssetStore") {}

/** Why runs leave an asset as it is, in the codes of their skips. */
export interface NotTradable {
  readonly code: typeof SkipCode.assetBlocked | typeof SkipCode.missingPrice | typeof SkipCode.stalePrice
  readonly reason: string
}

export interface TradableAsset extends ClassifiedAsset {
  readonly price: (ShownPrice & { readonly ageSeconds: number }) | null
  readonly notTradable: NotTradable | null
}

const notTradable = ({ isBlocked, refusal, symbol }: Asset, price: ShownPrice | undefined): NotTradable | null => {
  if (refusal !== undefined) return { code: SkipCode.assetBlocked, reason: `${symbol} is not traded: ${refusal}` }
  if (isBlocked)
    return {
      code: SkipCode.assetBlocked,
      reason: `The operator has blocked ${symbol}: allocations with it are refused, and what is held of it stays`
    }
  if (price === undefined)
    return {
      code: SkipCode.missingPrice,
      reason: `No source has a price of ${symbol}: runs leave it as it is until one does`
    }
  return price.isStale
    ? {
        code: SkipCode.stalePrice,
        reason: `The price of ${symbol} could not be renewed in time: runs trade it when its source answers again`
      }
    : null
}

/** The name of this list in cursors, whose order has no time. */
const list = "assets"
const timeless = DateTime.makeUnsafe(0)

/**
 * What integrators may name in allocations.
 *
 * **When to use**
 *
 * Use in the route that lists assets of v2. Public procedures browse more than can be traded, by `AssetBrowsing`.
 */
export class TradableAssets extends Context.Service<
  TradableAssets,
  {
    /** Assets on the chains that the deployment serves, ordered by id. */
    readonly list: (query: AssetQuery) => Effect.Effect<Cursor.Page<TradableAsset>, CursorInvalid | ValidationFailed>
  }
>()("ballast/domain/listing/TradableAssets") {
  static readonly layer = Layer.effect(
    TradableAssets,
    Effect.gen(function* () {
      const store = yield* TradableAssetStore
      const prices = yield* ShownPrices
      const chains = yield* Chains

      const listAssets = Effect.fn("TradableAssets.list")(function* (query: AssetQuery) {
        const { after, limit } = yield* Cursor.pageRequest(list, query)
        const chainIds = query.chainId === undefined ? chains.supported : yield* requireSupported([query.chainId])
        const search = query.search?.trim().toLowerCase() ?? ""
        const selection = { chainIds, kind: query.kind ?? null, search: search === "" ? null : search }
        const rows = yield* store.list(selection, after?.id ?? null, limit + 1)
        const now = yield* Clock.currentTimeMillis
        const assets = rows.map((asset): TradableAsset => {
          const price = prices.of(asset.assetId)
          const ageSeconds = price && Math.max(0, Math.floor((now - price.asOf.epochMilliseconds) / 1000))
          return {
            ...asset,
            price: price === undefined || ageSeconds === undefined ? null : { ...price, ageSeconds },
            notTradable: notTradable(asset, price)
          }
        })
        return Cursor.page({ list, limit, rows: assets }, ({ assetId }: { assetId: AssetId }) => ({
          createdAt: timeless,
          id: assetId
        }))
      })

      return TradableAssets.of({
        list: (query) => Effect.provideService(listAssets(query), Chains, chains)
      })
    })
  )
}
