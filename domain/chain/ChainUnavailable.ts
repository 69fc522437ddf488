/**
 * A chain did not answer, or answered something that is not an answer. Work on it waits; nothing is concluded from it.
 */
import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"

export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  chainId: ChainId,
  reason: Schema.String,
  /** Its nodes answer, and what they answer is of a block that is too old; left out when that is not why. */
  isBehind: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return `Chain ${this.chainId} is unavailable: ${this.reason}`
  }
}
