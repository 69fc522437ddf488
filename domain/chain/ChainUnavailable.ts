/**
 * A chain did not answer, or answered something that is not an answer. Work on it waits; nothing is concluded from it.
 */
import { Schema } from "effect"

export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  chainId: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Chain ${this.chainId} is unavailable: ${this.reason}`
  }
}
