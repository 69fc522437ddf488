/**
 * Schemas for values that are written as text and read by one parse function.
 */
import { Effect, type JsonSchema, Schema, SchemaGetter, SchemaIssue } from "effect"

/** A check that refuses nothing: it puts into the OpenAPI document what is checked elsewhere. */
export const shown = (constraints: JsonSchema.JsonSchema) =>
  Schema.makeFilter<string>(() => true, { toJsonSchema: () => constraints })

/**
 * A codec between a string and `to`: `parse` returns `undefined` for text that is not a value, and the issue then names
 * what was expected. The encoded side contains the description and the example, so OpenAPI shows the wire form.
 */
export const fromText = <To extends Schema.Constraint>(
  to: To,
  options: {
    readonly expected: string
    readonly example: string
    /** The form for readers of the OpenAPI document; `parse` decides, and may check more, such as a checksum. */
    readonly pattern: RegExp
    readonly parse: (text: string) => To["Encoded"] | undefined
    readonly format: (value: To["Encoded"]) => string
  }
) =>
  Schema.String.check(shown({ pattern: options.pattern.source }))
    .annotate({
      description: options.expected,
      examples: [options.example]
    })
    .pipe(
      Schema.decodeTo(to, {
        decode: SchemaGetter.transformEffect((text: string) => {
          const value = options.parse(text)
          return value === undefined
            ? Effect.fail(
                new SchemaIssue.InvalidValue(
                  { message: `Expected ${options.expected}`, examples: [options.example] },
                  text
                )
              )
            : Effect.succeed(value)
        }),
        encode: SchemaGetter.transform(options.format)
      })
    )
