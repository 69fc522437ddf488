/** Where a key is kept. */
import type { Redacted } from "effect"
import type { EvmAddress } from "#domain/values/Caip.ts"

export type SignerConfig =
  /** Key in this process: 32 bytes in hex, from the environment or a file. */
  | { readonly kind: "local"; readonly key: Redacted.Redacted }
  /** Behind a service that signs digests and keeps the key to itself. */
  | {
      readonly kind: "remote"
      /** Takes `POST`. */
      readonly url: string
      /** What the service calls the key. */
      readonly keyId: string
      readonly token: Redacted.Redacted
      /** Address of the key; signatures of any other are refused. */
      readonly address: EvmAddress
    }
