/** A key gave no signature: it cannot be reached, or what guards it refused. Nothing was signed; the work waits. */
import { Schema } from "effect"

export class SignerUnavailable extends Schema.TaggedError<SignerUnavailable>()("SignerUnavailable", {
  address: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The signer of ${this.address} gave no signature: ${this.reason}`
  }
}
