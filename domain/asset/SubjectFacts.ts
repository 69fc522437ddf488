/** Port: facts about the subjects of the catalogue that only its own files hold. */
import { Context } from "effect"
import type { CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"

/** Where a company or fund is at home. */
export interface Home {
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  /** Slug of the part of the world. */
  readonly region: string
}

/**
 * Facts about the subjects of the catalogue.
 *
 * **When to use**
 *
 * Use to request a subject by the provider's own id, and to read the home country of a company or fund.
 */
export class SubjectFacts extends Context.Service<
  SubjectFacts,
  {
    /** The id of a coin at CoinGecko; undefined for shares and for coins that it does not list. */
    readonly coinIdOf: (asset: CanonicalAsset) => string | undefined
    readonly coinIds: ReadonlyArray<string>
    /** Undefined for what is neither company nor fund. */
    readonly homeOf: (asset: CanonicalAsset) => Home | undefined
  }
>()("ballast/domain/asset/SubjectFacts") {}
