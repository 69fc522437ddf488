/** A signed transaction, as it is written down before it is sent: the same bytes can land once only. */
import { type PublicKey, type VersionedMessage, VersionedTransaction } from "@solana/web3.js"
import { type Effect, type Option, Schema } from "effect"
import * as Base58 from "#domain/values/Base58.ts"

const Bytes = Schema.Uint8ArrayFromBase64

export const Attempt = Schema.Struct({
  /** Its first signature, the payer's, in base58: known before it is sent, and by it the chain is read. */
  signature: Schema.String,
  /** The wire bytes with all signatures. */
  transaction: Bytes,
  blockhash: Schema.String,
  /** The last height of a block that may include it. */
  lastValidBlockHeight: Schema.BigIntFromString
})
export type Attempt = typeof Attempt.Type

/**
 * Port of the caller: where the attempts of one operation are written down. A recorded attempt outlives the process, in
 * the same database as the operation; an operation has one writer at a time.
 */
export interface AttemptJournal<E, R = never> {
  /** The attempt that was recorded last, and how many were recorded in all. */
  readonly latest: Effect.Effect<Option.Option<{ readonly attempt: Attempt; readonly count: number }>, E, R>
  /** Committed when it returns. Called only when no earlier attempt can land any more. */
  readonly record: (attempt: Attempt) => Effect.Effect<void, E, R>
}

/** The attempt that sends the message with these signatures, one for each signer in the message's order. */
export const attemptOf = (
  message: Uint8Array,
  signatures: ReadonlyArray<Uint8Array>,
  lastValidBlockHeight: bigint
): Attempt => {
  const count = Uint8Array.of(signatures.length)
  const transaction = Uint8Array.from(Buffer.concat([count, ...signatures, message]))
  const { recentBlockhash } = VersionedTransaction.deserialize(transaction).message
  return { signature: Base58.encode(signatures[0]!), transaction, blockhash: recentBlockhash, lastValidBlockHeight }
}

/** Keys that must sign a message, in the order of their signatures. */
export const signersOf = ({ header, staticAccountKeys }: VersionedMessage): ReadonlyArray<PublicKey> =>
  staticAccountKeys.slice(0, header.numRequiredSignatures)
