/** A time from which on something is listed, in a query. */
import { Schema } from "effect"
import { fromText } from "#domain/fromText.ts"

const isoTime = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/u

export const sinceText = (meaning: string) =>
  fromText(Schema.DateTimeUtcFromString, {
    expected: `a time in ISO 8601 with an offset; ${meaning}`,
    example: "2026-03-01T00:00:00.000Z",
    pattern: isoTime,
    parse: (text) => (isoTime.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined),
    format: (text) => text
  })
