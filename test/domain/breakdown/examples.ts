/** Holdings of made-up assets, and a catalogue of what a test says. */
import { Effect, Layer } from "effect"
import type { AssetCanonicalId, AssetKind, CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"
import { Catalogue } from "#domain/asset/Catalogue.ts"
import type { Classification } from "#domain/asset/Classification.ts"
import type { Dimension } from "#domain/asset/Dimension.ts"
import { Breakdowns } from "#domain/breakdown/Breakdowns.ts"
import type { BreakdownRequest, HoldingInput } from "#domain/breakdown/Breakdown.ts"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"

export const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}` as AssetCanonicalId

export const tokenOf = (index: number) => `eip155:1/erc20:${index}` as AssetId

export const asset = (index: number, kind: AssetKind = "equity"): CanonicalAsset => ({
  assetCanonicalId: idOf(index),
  kind,
  symbol: `S${index}`,
  name: `Asset ${index}`
})

/** A category with percent of confidence. */
export const category = (
  index: number,
  key: string,
  {
    dimension = "sector",
    percent,
    rank = 0
  }: { readonly percent: number; readonly rank?: number | undefined; readonly dimension?: Dimension | undefined }
): Classification => ({
  assetCanonicalId: idOf(index),
  dimension,
  key,
  label: key.toUpperCase(),
  confidence: percent * 100,
  rank
})

export const holding = (index: number, weight: string | bigint, symbol: string | null = null): HoldingInput => ({
  assetCanonicalId: idOf(index),
  caipAssetId: null,
  symbol,
  weight: typeof weight === "bigint" ? weight : Decimal.parse(weight)!
})

export const token = (index: number, weight: string, symbol: string | null = null): HoldingInput => ({
  assetCanonicalId: null,
  caipAssetId: tokenOf(index),
  symbol,
  weight: Decimal.parse(weight)!
})

/** A catalogue of these assets, each with a token of its number, and these categories. */
const catalogueOf = (assets: ReadonlyArray<CanonicalAsset>, categories: ReadonlyArray<Classification>) =>
  Layer.succeed(Catalogue, {
    resolve: ({ canonical, represented }) =>
      Effect.succeed({
        canonical: new Map(
          assets.flatMap((each) =>
            canonical.includes(each.assetCanonicalId) ? [[each.assetCanonicalId, each] as const] : []
          )
        ),
        represented: new Map(
          assets.flatMap((each) => {
            const id = tokenOf(Number(each.assetCanonicalId.slice(-12)))
            return represented.includes(id) ? [[id, { ...each, symbolOnChain: `w${each.symbol}` }] as const] : []
          })
        )
      }),
    classifications: (ids, dimensions) =>
      Effect.succeed(
        categories.filter((each) => ids.includes(each.assetCanonicalId) && dimensions.includes(each.dimension))
      )
  })

export const breakDown = (
  request: Partial<BreakdownRequest> & Pick<BreakdownRequest, "holdings">,
  assets: ReadonlyArray<CanonicalAsset>,
  categories: ReadonlyArray<Classification>
) =>
  Effect.flatMap(Breakdowns, (breakdowns) =>
    breakdowns.breakDown({ dimensions: ["sector"], mode: "primary", ...request })
  ).pipe(Effect.provide(Breakdowns.layer.pipe(Layer.provide(catalogueOf(assets, categories)))))
