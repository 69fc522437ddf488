import { Effect, Schema, SchemaParser, SchemaTransformation } from "effect"

/** What is JSON of a schema already: it is taken as it is, and published as the schema has it. */
const jsonOf = (schema: Schema.Top) =>
  Schema.declare((_: unknown): _ is unknown => true, { toCodecJson: () => undefined }).check(
    Schema.makeFilter(() => true, { toJsonSchema: () => Schema.toJsonSchemaDocument(schema).schema })
  )

/**
 * A schema of values that are sent again and again and never changed, such as the rows of a market that is fetched
 * every ten minutes: a value is checked and encoded when it is sent first, and its JSON is cached for as long as the
 * value itself is kept.
 */
export const encodedOnce = <T extends object, E>(schema: Schema.Codec<T, E>): Schema.declare<T> => {
  const cached = new WeakMap<object, unknown>()
  const codec = Schema.toCodecJson(schema)
  const [decode, encode] = [SchemaParser.decodeUnknownEffect(codec), SchemaParser.encodeUnknownEffect(codec)]
  const isValue = Schema.is(schema)
  const isCached = (value: unknown) => typeof value === "object" && value !== null && cached.has(value)

  return Schema.declare((value): value is T => isCached(value) || isValue(value), {
    toCodecJson: () =>
      Schema.link<T>()(
        jsonOf(schema),
        SchemaTransformation.transformEffect({
          decode: (json, options) => decode(json, options),
          encode: (value, options) => {
            const json = cached.get(value)
            if (json !== undefined) return Effect.succeed(json)
            return Effect.map(encode(value, options), (encoded) => {
              cached.set(value, encoded)
              return encoded
            })
          }
        })
      )
  })
}
