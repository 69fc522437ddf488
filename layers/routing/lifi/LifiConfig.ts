/** How LI.FI is reached. */
import { Context, type Redacted } from "effect"

export class LifiConfig extends Context.Service<
  LifiConfig,
  {
    /**
     * URL without the trailing slash, `/v1` included; null: no provider, value stays on its chain, the venue makes all
     * swaps.
     */
    readonly baseUrl: string | null
    readonly apiKey: Redacted.Redacted | null
    /** The name under which requests are counted. */
    readonly integrator: string
    /** Keys of the exchanges that a swap on one chain may use; null: all of LI.FI's. */
    readonly exchanges: ReadonlyArray<string> | null
  }
>()("ballast/layers/routing/lifi/LifiConfig") {}
