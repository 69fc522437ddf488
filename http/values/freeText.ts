/** Text of people that is stored as it is: counted in code points, without control characters, whole in Unicode. */
import { Schema } from "effect"
import { isVisibleName } from "#domain/values/VisibleName.ts"

/** Line breaks and tabs are the only control characters that a text may hold; lone surrogates are no text at all. */
const isPlain = Schema.makeFilter(
  (value: string) => value.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/u.test(value),
  { expected: "text without control characters" }
)

/** Length in code points. */
interface Length {
  readonly minimum: number
  readonly maximum: number
}

export const freeText = ({ maximum, minimum }: Length, description: string, example: string) =>
  Schema.String.annotate({ description, examples: [example] }).check(
    Schema.isBetweenCodePoints(minimum, maximum, { expected: `${minimum} to ${maximum} characters` }),
    isPlain
  )

/** What people call something. */
export const nameText = (maximum: number, description: string, example: string) =>
  Schema.String.annotate({ description, examples: [example] }).check(
    Schema.isBetweenCodePoints(1, maximum, { expected: `1 to ${maximum} characters` }),
    isVisibleName
  )
