/** Where the prices of tokens without a feed are signed. */
import { Context, type Redacted } from "effect"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"

/** The attestor as the service is configured for it. */
export type AttestorChoice =
  /** No attestor: such tokens are not traded. */
  | { readonly kind: "none" }
  /** A process of its own, which keeps key and sources to itself. */
  | { readonly kind: "process"; readonly url: string; readonly token: Redacted.Redacted }
  /** This process, with a key of its own or a remote signer. */
  | { readonly kind: "here"; readonly signer: SignerConfig }

export class AttestorConfig extends Context.Service<AttestorConfig, AttestorChoice>()(
  "ballast/layers/attestor/AttestorConfig"
) {}

/** The guards that an attestor signs for. */
export class AttestedGuards extends Context.Service<AttestedGuards, ReadonlyMap<ChainId, ReadonlyArray<EvmAddress>>>()(
  "ballast/layers/attestor/AttestedGuards"
) {}
