/** How strictly paths are matched, and how much of a body is read. The server and the tests share these. */
import { ByteSize, Layer } from "effect"
import { HttpIncomingMessage } from "effect/http"

/**
 * Paths mean exactly what they say; a parameter may be long enough to be refused as malformed rather than as unknown.
 */
export const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 1_024
} as const

/** A larger body is answered 413 without being read. */
export const MaxBody = Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe("64 KiB"))
