/** What the journal of parts keeps of a signed transaction on Solana, as text. */
import { VersionedTransaction } from "@solana/web3.js"
import { Effect, Option, Schema } from "effect"
import { SplAssetId } from "#domain/values/Caip.ts"
import { type PartId, PartJournal } from "#domain/relay/PartJournal.ts"
import type { TaggedTransaction } from "#layers/solana/execution/readTagged.ts"
import { Attempt } from "#layers/solana/lifecycle/Attempt.ts"

const Held = Schema.Array(Schema.Struct({ assetId: SplAssetId, raw: Schema.BigIntFromString }))

export const RecordedAttempt = Schema.Struct({
  /** The bytes. */
  attempt: Attempt,
  /** What the account held before it. */
  before: Held,
  /** Holdings after it, where it was read off the chain before it was recorded. */
  after: Schema.optionalKey(Held)
})
export type RecordedAttempt = typeof RecordedAttempt.Type

const asText = Schema.fromJsonString(Schema.toCodecJson(RecordedAttempt))
export const encodeRecorded = Schema.encodeSync(asText)
const decodeRecorded = Schema.decodeEffect(asText)

/** What was recorded last for a part, and how many transactions were signed for it. */
export const latestOf = Effect.fnUntraced(function* (id: PartId) {
  const journal = yield* PartJournal
  const last = yield* journal.latest(id)
  if (Option.isNone(last)) return Option.none()
  const { number, payload } = last.value
  return Option.some({ ...(yield* Effect.orDie(decodeRecorded(payload))), number })
})

/**
 * The record of a transaction that has landed. When its blockhash expired is not known: a slot is higher than any
 * height of then, so it does not count as expired before a node shows it.
 */
export const recordOf = ({ after, before, bytes, signature, slot }: TaggedTransaction): RecordedAttempt => {
  const { recentBlockhash } = VersionedTransaction.deserialize(bytes).message
  const attempt = { signature, transaction: bytes, blockhash: recentBlockhash, lastValidBlockHeight: slot }
  return { attempt, before, after }
}
