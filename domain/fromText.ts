/**
 * Schemas for values that are written as text and read by one parse function.
 */
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"

/**
 * A codec between a string and `to`: `parse` answers `undefined` for text that is not a value, and the issue then says
 * what was expected. The encoded side carries the description and the example, so OpenAPI shows the wire form.
 */
export const fromText = <To extends Schema.Constraint>(
  to: To,
  options: {
    readonly expected: string
    readonly example: string
    readonly parse: (text: string) => To["Encoded"] | undefined
    readonly format: (value: To["Encoded"]) => string
  }
) =>
  Schema.String.annotate({ description: options.expected, examples: [options.example] }).pipe(
    Schema.decodeTo(to, {
      decode: SchemaGetter.transformEffect((text: string) => {
        const value = options.parse(text)
        return value === undefined
          ? Effect.fail(new SchemaIssue.InvalidValue({ message: `Expected ${options.expected}` }, text))
          : Effect.succeed(value)
      }),
      encode: SchemaGetter.transform(options.format)
    })
  )
