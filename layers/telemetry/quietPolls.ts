/**
 * A tracer that does not export the polls of an idle process: queries of its own database for work.
 *
 * A trace that no request began is held back until its first span ends. It is exported when it called anything but the
 * database, when something in it failed, or when it grew beyond a poll; otherwise it was a poll that found nothing, and
 * is dropped. What is dropped is measured all the same (SpanMetrics.ts).
 */
import { Exit, Option, Tracer } from "effect"

/** More spans than this are no idle poll, and are not held. */
const maxHeld = 64

interface Held {
  /** Exports what has ended so far. */
  readonly release: Array<() => void>
  isExported: boolean
}

const isOfDatabase = (span: Tracer.Span): boolean => span.attributes.has("db.system.name")

const exportAll = (trace: Held): void => {
  trace.isExported = true
  for (const end of trace.release.splice(0)) end()
}

export const quietPolls = (tracer: Tracer.Tracer): Tracer.Tracer => {
  const traces = new WeakMap<Tracer.AnySpan, Held>()

  const traceOf = (parent: Option.Option<Tracer.AnySpan>, kind: Tracer.SpanKind): Held | undefined => {
    if (Option.isSome(parent)) return traces.get(parent.value)
    return kind === "server" ? undefined : { release: [], isExported: false }
  }

  return Tracer.make({
    ...tracer,
    span: (options) => {
      const span = tracer.span(options)
      const trace = traceOf(options.parent, options.kind)
      if (trace === undefined) return span
      traces.set(span, trace)
      const isFirst = Option.isNone(options.parent)
      const end = span.end.bind(span)
      span.end = (endTime, exit) => {
        if (trace.isExported) return end(endTime, exit)
        trace.release.push(() => end(endTime, exit))
        const isWork = !Exit.isSuccess(exit) || (span.kind === "client" && !isOfDatabase(span))
        if (isWork || trace.release.length > maxHeld) exportAll(trace)
        // What the poll started may go on, and may yet turn out to be work.
        else if (isFirst) trace.release.length = 0
      }
      return span
    }
  })
}
