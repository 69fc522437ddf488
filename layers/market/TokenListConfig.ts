/** Where the asset catalogue of a deployment comes from, and what of it is not traded. */
import { Context } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"

export class TokenListConfig extends Context.Service<
  TokenListConfig,
  {
    /** Token lists by http(s) URL or file path; where two name a token, the earlier one counts. */
    readonly sources: ReadonlyArray<string>
    /** Assets that nobody trades here, whatever the lists say. */
    readonly blocked: ReadonlySet<AssetId>
  }
>()("ballast/layers/market/TokenListConfig") {}
