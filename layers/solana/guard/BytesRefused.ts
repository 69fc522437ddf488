import { Schema } from "effect"

/** Bytes that are not what was planned. They are not signed; the message names the first difference. */
export class BytesRefused extends Schema.TaggedError<BytesRefused>()("BytesRefused", {
  message: Schema.String
}) {}
