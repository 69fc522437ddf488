/** How Ondo is reached; its contracts are those of the chains. */
import { Context, type Redacted } from "effect"

export class OndoConfig extends Context.Service<
  OndoConfig,
  {
    /** URL without the trailing slash, and without `/v1`. */
    readonly baseUrl: string
    /** Null: Ondo is not used. */
    readonly apiKey: Redacted.Redacted | null
  }
>()("ballast/layers/issuer/ondo/OndoConfig") {}
