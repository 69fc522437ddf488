/** Input of procedures, read inside of their middleware: who calls is asked before what was sent is read. */
import { Effect, Schema } from "effect"
import type { Rpc, RpcSerialization } from "effect/rpc"
import { describedParsing, detailsOf } from "#domain/errors/describeIssue.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"

/** Options by which bodies of REST are read too: a field that the procedure does not have is refused. */
const strict = { onExcessProperty: "error" } as const

/** A refusal whose details name the fields; `path` is the path at which the whole input stands. */
export const notValid =
  (path: string) =>
  ({ issue }: Schema.SchemaError) =>
    new ValidationFailed({
      message: "The request is not valid; details name each field",
      details: detailsOf(issue, path)
    })

/** An object without fields. */
const nothing = Schema.Record(
  Schema.String,
  Schema.Never.annotate({ message: "is not a field here; this procedure takes no input" })
)

/** Reads what was sent as the input of a procedure. */
export const inputReader = (
  { payloadSchema }: Rpc.AnyWithProps,
  { codecFor, path }: { readonly codecFor: RpcSerialization.CodecFor; readonly path: string }
) => {
  const takesNothing = payloadSchema.ast._tag === "Void"
  const codec = codecFor(takesNothing ? nothing : payloadSchema) as Schema.Codec<unknown, unknown>
  const quickly = Schema.decodeUnknownEffect(codec, strict)
  const thoroughly = Schema.decodeUnknownEffect(codec, { ...describedParsing, ...strict })
  const refusal = notValid(path)
  return (input: unknown): Effect.Effect<unknown, ValidationFailed> => {
    const sent = takesNothing ? (input ?? {}) : input
    // Finding every problem costs three times as much, and most inputs have none.
    const read = Effect.catch(quickly(sent), () => Effect.mapError(thoroughly(sent), refusal))
    return takesNothing ? Effect.asVoid(read) : read
  }
}
