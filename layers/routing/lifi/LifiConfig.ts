/** How LI.FI is reached. */
import { Context, type Redacted } from "effect"

export class LifiConfig extends Context.Service<
  LifiConfig,
  {
    /** Without the trailing slash, `/v1` included; null: no provider, value stays on its chain. */
    readonly baseUrl: string | null
    readonly apiKey: Redacted.Redacted | null
    /** The name under which requests are counted. */
    readonly integrator: string
  }
>()("ballast/layers/routing/lifi/LifiConfig") {}
