/** The operator's bearer token for `/v1/admin`. Filled by src/Config.ts. */
import { Context, type Redacted } from "effect"

export class AdminSettings extends Context.Service<AdminSettings, { readonly token: Redacted.Redacted }>()(
  "ballast/http/admin/AdminSettings"
) {}
