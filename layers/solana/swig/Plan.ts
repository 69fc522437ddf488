/**
 * What a transaction of the agent is meant to do, in the service's own terms. Bytes are built from it and checked
 * against it.
 */
import type { AddressLookupTableAccount, PublicKey, TransactionInstruction } from "@solana/web3.js"

/** How the wallet's owner agrees to a new role: by signing the transaction, or by a `personal_sign` of `signedText`. */
export type Consent =
  | { readonly _tag: "SignsTransaction"; readonly key: PublicKey }
  | {
      readonly _tag: "PersonalSignature"
      /** Compressed (33 bytes) or uncompressed without its first byte (64). */
      readonly publicKey: Uint8Array
      readonly slot: bigint
      readonly odometer: number
      /** r, s, v: 65 bytes, v 27 or 28. */
      readonly signature: Uint8Array
    }

/** One instruction. `id` is the wallet's id of 32 bytes. */
export type Step =
  | {
      readonly _tag: "LimitUnits"
      readonly units: number
      /** An address by which the transaction is found, which no program reads. */
      readonly tag?: PublicKey | undefined
    }
  /** Millionths of a lamport for a unit. */
  | { readonly _tag: "PriceUnits"; readonly microLamports: bigint }
  /** The owner's associated account of a mint, made when it does not exist, at the agent's cost. */
  | {
      readonly _tag: "MakeTokenAccount"
      readonly owner: PublicKey
      readonly mint: PublicKey
      readonly tokenProgram: PublicKey
    }
  | { readonly _tag: "CreateWallet"; readonly id: Uint8Array; readonly consent: Consent }
  /** A role for the agent that acts for one sub-account. */
  | { readonly _tag: "AddAgent"; readonly id: Uint8Array; readonly consent: Consent }
  | { readonly _tag: "CreateSubAccount"; readonly id: Uint8Array; readonly roleId: number }
  /** Instructions that the sub-account signs. */
  | {
      readonly _tag: "ActForSubAccount"
      readonly id: Uint8Array
      readonly roleId: number
      readonly inner: ReadonlyArray<TransactionInstruction>
    }
  /** An assertion that the owner's wallet has added. It reads accounts, and the transaction fails where it is false. */
  | { readonly _tag: "Assert"; readonly accounts: ReadonlyArray<PublicKey>; readonly data: Uint8Array }

export interface TransactionPlan {
  /** Signs, and pays. */
  readonly agent: PublicKey
  readonly blockhash: string
  readonly steps: ReadonlyArray<Step>
  readonly lookupTables: ReadonlyArray<AddressLookupTableAccount>
}
