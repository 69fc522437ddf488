/** How procedures without authentication are defined. */
import { Context, Schema, SchemaGetter } from "effect"
import { Rpc } from "effect/rpc"

/** Annotation of a procedure that changes nothing: it may also be called with GET. */
export const IsRead = Context.Reference<boolean>("ballast/rpc/IsRead", { defaultValue: () => false })

/** What is sent of a defect. */
export const hiddenDefect = "Internal error"

/** Details of an internal failure are not sent: the wire has no more than that something failed. */
export const HiddenDefect = Schema.String.pipe(
  Schema.decodeTo(Schema.Unknown, {
    decode: SchemaGetter.transform((text: string): unknown => text),
    encode: SchemaGetter.transform(() => hiddenDefect)
  })
)

/** A read of public data. It needs no key, and nothing that fails inside shows outside. */
export const publicRead = <
  const Tag extends string,
  Payload extends Schema.Top | Schema.Struct.Fields = typeof Schema.Void,
  Success extends Schema.Top = typeof Schema.Void,
  Error extends Schema.Top = typeof Schema.Never
>(
  tag: Tag,
  options: { readonly payload?: Payload; readonly success: Success; readonly error?: Error }
) => Rpc.make(tag, { ...options, defect: HiddenDefect }).annotate(IsRead, true)
