import { Schema } from "effect"

/** The world could not do what was asked. The message says what, where, and what to do next. */
export class SandboxFailure extends Schema.TaggedError<SandboxFailure>()("SandboxFailure", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}
