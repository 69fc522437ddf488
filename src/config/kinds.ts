/** The kinds of values that environment variables hold. */
import { Redacted, Schema, SchemaGetter, SchemaTransformation } from "effect"
import type { Kind } from "#src/config/Setting.ts"

const pattern = (shape: RegExp) => Schema.String.check(Schema.isPattern(shape))

export const kind = <A>(schema: Schema.Codec<A, string>, expected: string, example: string): Kind<A> => ({
  schema,
  expected,
  example,
  isSecret: false
})

const redacted = (plain: Schema.Codec<string, string>): Schema.Codec<Redacted.Redacted, string> =>
  plain.pipe(
    Schema.decodeTo(
      Schema.Redacted(Schema.String),
      SchemaTransformation.transform({ decode: Redacted.make, encode: Redacted.value })
    )
  ) as Schema.Codec<Redacted.Redacted, string>

/** A value that is kept from view from the moment it is read. */
export const secret = (shape: RegExp, expected: string, example: string): Kind<Redacted.Redacted> => ({
  schema: redacted(pattern(shape)),
  expected,
  example,
  isSecret: true
})

export const text = (expected: string, example: string): Kind<string> => kind(Schema.NonEmptyString, expected, example)

export const integer = (minimum: number, maximum: number, example: string): Kind<number> =>
  kind(
    pattern(/^[0-9]{1,15}$/).pipe(
      Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum, maximum })), SchemaTransformation.numberFromString)
    ),
    `a whole number from ${minimum} to ${maximum}`,
    example
  )

export const ratio: Kind<number> = kind(
  pattern(/^(0|1|[01]?\.[0-9]{1,9})$/).pipe(
    Schema.decodeTo(
      Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
      SchemaTransformation.numberFromString
    )
  ),
  "a number from 0 to 1",
  "0.1"
)

export const boolean: Kind<boolean> = kind(
  Schema.Literals(["true", "false"]).pipe(
    Schema.decodeTo(Schema.Boolean, {
      decode: SchemaGetter.transform((value: "true" | "false") => value === "true"),
      encode: SchemaGetter.transform((value: boolean): "true" | "false" => (value ? "true" : "false"))
    })
  ),
  "true or false",
  "true"
)

export const oneOf = <const Values extends ReadonlyArray<string>>(values: Values): Kind<Values[number]> =>
  kind(Schema.Literals(values), `one of ${values.join(", ")}`, values[0]!)

const withoutSlash = (url: string) => url.replace(/\/+$/, "")

const urlOf = (protocols: ReadonlyArray<string>) =>
  Schema.String.check(
    Schema.makeFilter((value: string) => URL.canParse(value) && protocols.includes(new URL(value).protocol))
  )

/** An address on the web, without a slash at the end. */
export const httpUrl = (example: string): Kind<string> =>
  kind(
    urlOf(["http:", "https:"]).pipe(
      Schema.decodeTo(Schema.String, SchemaTransformation.transform({ decode: withoutSlash, encode: (value) => value }))
    ),
    "an http or https URL",
    example
  )

/**
 * Where a page is served, as browsers write it: no path, no slash at the end, a port only when it is not the usual one.
 */
export const origin: Kind<string> = kind(
  Schema.String.check(
    Schema.makeFilter(
      (text) => URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol) && new URL(text).origin === text
    )
  ),
  "an origin without path",
  "https://app.example.com"
)

/** A URL that holds credentials. */
export const secretUrl = (protocols: ReadonlyArray<string>, example: string): Kind<Redacted.Redacted> => ({
  schema: redacted(urlOf(protocols)),
  expected: `a URL starting with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  example,
  isSecret: true
})

const longestList = 64

/** Values separated by commas, at least one. */
export const listOf = <A>(item: Kind<A>): Kind<readonly [A, ...ReadonlyArray<A>]> => ({
  ...item,
  expected: `a comma-separated list, each ${item.expected}`,
  schema: Schema.String.pipe(
    Schema.decodeTo(Schema.NonEmptyArray(item.schema).check(Schema.isMaxLength(longestList)), {
      decode: SchemaGetter.transform((line: string) => {
        const [first = "", ...rest] = line.split(",").map((part) => part.trim())
        return [first, ...rest] as const
      }),
      encode: SchemaGetter.transform((parts: readonly [string, ...ReadonlyArray<string>]) => parts.join(","))
    })
  )
})

/** Many write their values without escaping them; a stray percent sign is then one. */
const unescaped = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** `name=value` pairs separated by commas, percent-encoded, as OpenTelemetry writes them. */
export const pairs = (
  expected: string,
  example: string,
  isSecret: boolean
): Kind<Readonly<Record<string, string>>> => ({
  ...kind(
    pattern(/^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$/).pipe(
      Schema.decodeTo(Schema.Record(Schema.String, Schema.String), {
        decode: SchemaGetter.transform((line: string) =>
          Object.fromEntries(
            line.split(",").map((pair) => {
              const at = pair.indexOf("=")
              return [unescaped(pair.slice(0, at).trim()), unescaped(pair.slice(at + 1).trim())]
            })
          )
        ),
        encode: SchemaGetter.transform((record: Readonly<Record<string, string>>) =>
          Object.entries(record)
            .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
            .join(",")
        )
      })
    ),
    expected,
    example
  ),
  isSecret
})
