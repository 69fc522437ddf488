/** Results of steps as they are stored: JSON of what succeeded, or of the failure. */
import { Exit, Schema } from "effect"

const exit = Schema.toCodecJson(Schema.Exit(Schema.Any, Schema.Any, Schema.Defect()))
const encodeExit = Schema.encodeSync(exit)
const decodeExit = Schema.decodeUnknownSync(exit)

interface Stored {
  readonly value?: unknown
  readonly failure?: unknown
}

/** The exit's values must be JSON already. */
export const encodeResult = (result: Exit.Exit<unknown, unknown>): string =>
  JSON.stringify((Exit.isSuccess(result) ? { value: result.value } : { failure: encodeExit(result) }) satisfies Stored)

export const decodeResult = (stored: string): Exit.Exit<unknown, unknown> => {
  const { failure, value } = JSON.parse(stored) as Stored
  return failure === undefined ? Exit.succeed(value) : decodeExit(failure)
}
