/**
 * Ports: the keys of the service, wherever they are kept. A signer gives signatures, never the key.
 *
 * A key that is kept elsewhere may have rules of its own, so each request has what the digest stands for; the holder of
 * the key can compute the digest from it and refuse.
 */
import { Context, type Effect, Schema } from "effect"
import type { ChainId, AccountId, EvmAddress } from "#domain/values/Caip.ts"

/** A key gave no signature: it cannot be reached, or what guards it refused. Nothing was signed; the work waits. */
export class SignerUnavailable extends Schema.TaggedError<SignerUnavailable>()("SignerUnavailable", {
  address: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The signer of ${this.address} gave no signature: ${this.reason}`
  }
}

/** What a digest stands for. */
export type SigningContext =
  /** Keccak-256 of an unsigned EIP-1559 transaction in hex. */
  | { readonly kind: "transaction"; readonly chainId: ChainId; readonly unsigned: string }
  /** EIP-191 hash of a user operation's hash, of the account that it belongs to. */
  | {
      readonly kind: "userOperation"
      readonly chainId: ChainId
      readonly accountId: AccountId
      readonly userOpHash: string
    }
  /**
   * EIP-712 hash of an attested price: US dollars (wad) for one whole token at a UNIX time, for a guard on its chain.
   */
  | {
      readonly kind: "price"
      readonly chainId: ChainId
      readonly guard: EvmAddress
      readonly token: EvmAddress
      readonly price: string
      readonly time: number
    }

export interface Signer {
  /** Address of the key; known without a signature. */
  readonly address: EvmAddress
  /** 65 bytes `r ++ s ++ v` in hex, with `v` 27 or 28 and the lower `s`, proven to be this key's. */
  readonly sign: (digest: string, context: SigningContext) => Effect.Effect<string, SignerUnavailable>
}

/**
 * Signs user operations within the permissions that owners granted.
 *
 * **When to use**
 *
 * Use in adapters that build user operations. Nothing else is signed with this key.
 *
 * **Details**
 *
 * The adapter proves each signature before it answers. Fails with `SignerUnavailable`, and then nothing was signed.
 *
 * **Example** (A key that is out of reach)
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import type { EvmAddress } from "#domain/values/Caip.ts"
 * import { AgentSigner, SignerUnavailable } from "#domain/relay/Signer.ts"
 *
 * const UnreachableAgent = (address: EvmAddress) =>
 *   Layer.succeed(AgentSigner, {
 *     address,
 *     sign: () => Effect.fail(new SignerUnavailable({ address, reason: "it does not answer" }))
 *   })
 * ```
 */
export class AgentSigner extends Context.Service<AgentSigner, Signer>()("ballast/domain/relay/AgentSigner") {}

/**
 * Sign prices of tokens that have no feed, which the guards of the chains accept; they can do nothing else. Two while
 * one is exchanged for the other: each guard accepts one of them.
 *
 * **When to use**
 *
 * Use in the attestor alone, in its own process or in this one.
 */
export class AttestorSigners extends Context.Service<
  AttestorSigners,
  { readonly keys: readonly [Signer, ...ReadonlyArray<Signer>] }
>()("ballast/domain/relay/AttestorSigners") {}

/**
 * Sign the transactions that include user operations, and pay for gas; one for each account of the relayer.
 *
 * **When to use**
 *
 * Use in the adapter of `Relayer` alone.
 */
export class RelayerSigners extends Context.Service<
  RelayerSigners,
  { readonly signers: readonly [Signer, ...ReadonlyArray<Signer>] }
>()("ballast/domain/relay/RelayerSigners") {}
