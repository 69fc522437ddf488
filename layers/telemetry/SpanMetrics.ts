/**
 * A tracer that measures the statements of the database by their spans, sampled or not, and says on each what it does
 * to which table: the client of the library has a span for each, named as all others, and no metric. Names and units
 * are those of the semantic conventions for databases.
 */
import { type Context, Exit, Metric, Tracer } from "effect"
import { makeStatementNames } from "#layers/telemetry/statementNames.ts"

const latency = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** Attributes: `db.system.name`, `db.operation.name` (statementNames.ts), `error.type`. */
export const operationDuration = Metric.histogram("db.client.operation.duration", {
  description: "Duration of database client operations",
  boundaries: latency,
  attributes: { unit: "s" }
})

/** Time from a statement to a connection of the pool for it: the pool is too small, or held, where this grows. */
export const connectionWait = Metric.histogram("db.client.connection.wait_time", {
  description: "The time it took to obtain an open connection from the pool",
  boundaries: latency,
  attributes: { unit: "s" }
})

const waitAttribute = "db.client.connection.wait_time_ms"

/** `registry` is where the series are kept. */
export const measured =
  (registry: Context.Context<never>) =>
  (tracer: Tracer.Tracer): Tracer.Tracer => {
    const namesOf = makeStatementNames()

    const measure = (span: Tracer.Span, seconds: number, exit: Exit.Exit<unknown, unknown>) => {
      const text = span.attributes.get("db.query.text")
      if (typeof text !== "string") return
      const { operation, summary, table } = namesOf(text)
      span.attribute("db.operation.name", operation)
      span.attribute("db.query.summary", summary)
      if (table !== undefined) span.attribute("db.collection.name", table)
      // The text is known when the span has begun; until then its name is that of the system.
      ;(span as { name: string }).name = summary
      const attributes = {
        "db.system.name": "postgresql",
        "db.operation.name": operation,
        ...(Exit.isSuccess(exit) ? {} : { "error.type": "SqlError" })
      }
      Metric.withAttributes(operationDuration, attributes).updateUnsafe(seconds, registry)
      const waited = span.attributes.get(waitAttribute)
      if (typeof waited === "number") connectionWait.updateUnsafe(waited / 1000, registry)
    }

    return Tracer.make({
      ...tracer,
      span: (options) => {
        const span = tracer.span(options)
        if (options.kind !== "client") return span
        const end = span.end.bind(span)
        span.end = (endTime, exit) => {
          measure(span, Number(endTime - span.status.startTime) / 1e9, exit)
          end(endTime, exit)
        }
        return span
      }
    })
  }
