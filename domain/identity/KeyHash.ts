/** Port: the keyed hash under which an API key is stored and looked up (HMAC-SHA-256 with the deployment's pepper). */
import { Context, type Redacted } from "effect"

/** The hash of a secret under each pepper that is accepted. */
export interface SecretHashes {
  /** Hash under the pepper that new hashes are made with. */
  readonly current: Uint8Array
  /** Hash under the other accepted pepper while the pepper is exchanged; null while there is one pepper. */
  readonly other: Uint8Array | null
}

/**
 * Keyed hash of secrets that are only ever compared.
 *
 * **When to use**
 *
 * Use for API keys and tokens of sessions. Secrets that must be read again are in `SecretBox`.
 *
 * **Details**
 *
 * `hashes` has one for each accepted pepper, so that keys from before an exchange are found.
 */
export class KeyHash extends Context.Service<
  KeyHash,
  {
    readonly hash: (secret: Redacted.Redacted<string>) => Uint8Array
    readonly hashes: (secret: Redacted.Redacted<string>) => SecretHashes
    /** Identifies the pepper of `hash` without revealing it. */
    readonly pepperName: string
  }
>()("ballast/domain/identity/KeyHash") {}
