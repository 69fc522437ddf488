import { Effect, Schema, Stream } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"

/** The body of an answer is larger than its reader is willing to hold. */
class BodyTooLong extends Schema.TaggedError<BodyTooLong>()("BodyTooLong", { maxBytes: Schema.Int }) {
  override get message() {
    return `the answer is longer than ${this.maxBytes} bytes`
  }
}

/** Decodes a JSON body of at most `maxBytes`; a longer one is dropped as soon as it shows, whatever its headers say. */
export const boundedJson =
  <S extends Schema.Constraint>(schema: S, maxBytes: number) =>
  (
    response: HttpClientResponse.HttpClientResponse
  ): Effect.Effect<
    S["Type"],
    HttpClientError.HttpClientError | Schema.SchemaError | BodyTooLong,
    S["DecodingServices"]
  > =>
    response.stream.pipe(
      Stream.runFoldEffect(
        () => ({ length: 0, chunks: [] as Array<Uint8Array> }),
        ({ length, chunks }, chunk) => {
          const total = length + chunk.length
          if (total > maxBytes) return Effect.fail(new BodyTooLong({ maxBytes }))
          chunks.push(chunk)
          return Effect.succeed({ length: total, chunks })
        }
      ),
      Effect.map(({ chunks }) => new TextDecoder().decode(Buffer.concat(chunks))),
      Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(schema)))
    )
