/**
 * The messages in the body of a request of Effect's RPC, a line each. All of them are in order, or none is
 * withOuterHeaders out.
 */
import { Effect } from "effect"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { headersProblem } from "#rpc/native/OuterRequest.ts"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const read = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** What is wrong with a message; undefined for a call. */
const problemOf = (message: unknown, ids: ReadonlySet<unknown>): string | undefined => {
  if (!isObject(message)) return "expected a message, an object in JSON"
  const { _tag, headers, id, isNotification, tag } = message
  // Acknowledgements, interruptions and pings are of connections that last.
  if (_tag !== "Request") return '_tag: expected "Request"'
  if (typeof tag !== "string") return "tag: expected the name of a procedure"
  if (isNotification !== true) {
    if (typeof id !== "string" && typeof id !== "number") return "id: expected text or a number"
    if (ids.has(id)) return "id: expected one that no other message of the request has"
  }
  return headersProblem(headers)
}

/** The calls of a body, each as a line. */
export const callsIn = (text: string, maxCalls: number): Effect.Effect<ReadonlyArray<string>, ValidationFailed> => {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  if (lines.length > maxCalls)
    return Effect.fail(
      new ValidationFailed({
        message: `A request contains at most ${maxCalls} calls; send the others in further requests`,
        details: [`body: has ${lines.length} calls`]
      })
    )
  const ids = new Set<unknown>()
  for (const [index, line] of lines.entries()) {
    const message = read(line)
    const problem = problemOf(message, ids)
    if (problem !== undefined)
      return Effect.fail(
        new ValidationFailed({
          message: "A message of the request is not valid, so none was withOuterHeaders out; details name its line",
          details: [`line ${index + 1}: ${problem}`]
        })
      )
    ids.add((message as { readonly id?: unknown }).id)
  }
  return Effect.succeed(lines)
}
