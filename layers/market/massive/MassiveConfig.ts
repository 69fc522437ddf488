/** Where Massive's stocks socket is, and the key for it. */
import { Context, type Redacted } from "effect"

export class MassiveConfig extends Context.Service<
  MassiveConfig,
  { readonly url: string; readonly apiKey: Redacted.Redacted }
>()("ballast/layers/market/massive/MassiveConfig") {}
