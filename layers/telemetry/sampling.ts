import { Option, Tracer } from "effect"

/**
 * A tracer that lets the given share of new traces (0 to 1) be exported, evenly spread; a trace keeps the decision of
 * its first span, and one begun by a caller the caller's. Spans that are not exported still have ids for the logs.
 */
export const sampling =
  (ratio: number) =>
  (tracer: Tracer.Tracer): Tracer.Tracer => {
    if (ratio >= 1) return tracer
    let owed = 0
    const isNextTaken = () => {
      owed += ratio
      if (owed < 1) return false
      owed -= 1
      return true
    }
    return Tracer.make({
      ...tracer,
      span: (options) =>
        tracer.span(
          Option.match(options.parent, {
            onNone: () => ({ ...options, sampled: options.sampled && isNextTaken() }),
            onSome: (parent) => ({ ...options, sampled: options.sampled && parent.sampled })
          })
        )
    })
  }
