/** The deployment's secret under which API keys are hashed. Changing it makes every key unknown. */
import { Context, type Redacted } from "effect"

export class KeyHashConfig extends Context.Service<KeyHashConfig, { readonly pepper: Redacted.Redacted }>()(
  "ballast/layers/identity/KeyHashConfig"
) {}
