import { Schema } from "effect"

/** Nothing was sent, or nothing more: each reason is a sentence, and what to do is in it. */
export class DeploymentRefused extends Schema.TaggedError<DeploymentRefused>()("DeploymentRefused", {
  reasons: Schema.Array(Schema.String)
}) {
  override get message() {
    return this.reasons.join("\n")
  }
}
