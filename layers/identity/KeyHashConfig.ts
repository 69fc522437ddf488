/** The deployment's secret under which API keys are hashed and secrets of webhooks are sealed. */
import { Context, type Redacted } from "effect"

export class KeyHashConfig extends Context.Service<
  KeyHashConfig,
  {
    readonly pepper: Redacted.Redacted
    /** Accepted beside it while it is exchanged (docs/operations.md, "Keys and secrets that change"). */
    readonly other?: Redacted.Redacted | null
  }
>()("ballast/layers/identity/KeyHashConfig") {}
