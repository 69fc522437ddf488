/** Port: the keyed hash under which an API key is stored and looked up (HMAC-SHA-256 with the deployment's pepper). */
import { Context, type Redacted } from "effect"

export class KeyHash extends Context.Service<
  KeyHash,
  { readonly hash: (secret: Redacted.Redacted<string>) => Uint8Array }
>()("ballast/domain/identity/KeyHash") {}
