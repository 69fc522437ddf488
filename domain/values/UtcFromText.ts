/** A moment that is sent as text: ISO 8601 with its offset, since one without would mean another moment elsewhere. */
import { Schema } from "effect"
import { fromText } from "#domain/values/fromText.ts"

const isoTime = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/u

/** `meaning` says what the moment is for, after the form. */
export const utcFromText = (meaning?: string) =>
  fromText(Schema.DateTimeUtcFromString, {
    expected: `a time in ISO 8601 with an offset${meaning === undefined ? "" : `; ${meaning}`}`,
    example: "2026-03-01T00:00:00.000Z",
    pattern: isoTime,
    parse: (text) => (isoTime.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined),
    format: (text) => text
  })
