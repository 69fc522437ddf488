import { Effect, Schema, SchemaParser, SchemaTransformation } from "effect"

/** What is JSON already. */
const AsItIs = Schema.declare((_: unknown): _ is unknown => true, { toCodecJson: () => undefined })

/**
 * A schema of values that are told again and again and never changed, such as the rows of a market that is fetched
 * every ten minutes: a value is checked and encoded when it is told first, and its JSON remembered for as long as the
 * value itself is kept.
 */
export const encodedOnce = <T extends object, E>(schema: Schema.Codec<T, E>): Schema.declare<T> => {
  const told = new WeakMap<object, unknown>()
  const codec = Schema.toCodecJson(schema)
  const [decode, encode] = [SchemaParser.decodeUnknownEffect(codec), SchemaParser.encodeUnknownEffect(codec)]
  const isValue = Schema.is(schema)
  const wasTold = (value: unknown) => typeof value === "object" && value !== null && told.has(value)

  return Schema.declare((value): value is T => wasTold(value) || isValue(value), {
    toCodecJson: () =>
      Schema.link<T>()(
        AsItIs,
        SchemaTransformation.transformEffect({
          decode: (json, options) => decode(json, options),
          encode: (value, options) => {
            const json = told.get(value)
            if (json !== undefined) return Effect.succeed(json)
            return Effect.map(encode(value, options), (encoded) => {
              told.set(value, encoded)
              return encoded
            })
          }
        })
      )
  })
}
