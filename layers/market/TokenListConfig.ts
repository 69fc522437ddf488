/** Where the asset catalogue of a deployment comes from. */
import { Context } from "effect"

export class TokenListConfig extends Context.Service<
  TokenListConfig,
  {
    /** Token lists by http(s) URL or file path; where two name a token, the earlier one counts. */
    readonly sources: ReadonlyArray<string>
  }
>()("ballast/layers/market/TokenListConfig") {}
