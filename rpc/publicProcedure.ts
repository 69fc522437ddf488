/** How procedures that anybody may call are defined. */
import { Context, Schema, SchemaGetter } from "effect"
import { Rpc } from "effect/rpc"

/** On a procedure that changes nothing: it may also be asked for with GET. */
export const IsRead = Context.Reference<boolean>("ballast/rpc/IsRead", { defaultValue: () => false })

const hidden = "Internal error"

/** What failed inside stays inside: the wire says no more than that something did. */
export const HiddenDefect = Schema.String.pipe(
  Schema.decodeTo(Schema.Unknown, {
    decode: SchemaGetter.transform((text: string): unknown => text),
    encode: SchemaGetter.transform(() => hidden)
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
