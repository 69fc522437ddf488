/** Where clients reach this deployment; the server URL of the published descriptions. Filled by src/Config.ts. */
import { Context } from "effect"

export class DocsSettings extends Context.Service<
  DocsSettings,
  {
    /** Scheme, host and port, without a slash at the end. */
    readonly publicUrl: string
  }
>()("ballast/http/docs/DocsSettings") {}
