import { Schema } from "effect"

/** The journey ended somewhere else than it should have. */
export class JourneyFailed extends Schema.TaggedError<JourneyFailed>()("JourneyFailed", { message: Schema.String }) {}
