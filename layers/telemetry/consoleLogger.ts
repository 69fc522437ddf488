/** One line for each log entry: JSON for machines, or a shorter form for people. */
import { Array, Cause, Formatter, Logger, References } from "effect"

const longestText = 8_192
const longestLine = 65_536

const bounded = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText)}... (${text.length - longestText} more characters)`

const plain = (value: unknown): unknown => {
  if (typeof value === "string") return bounded(value)
  return typeof value === "bigint" || typeof value === "function" || typeof value === "symbol" ? String(value) : value
}

const asText = (value: unknown): string =>
  typeof value === "string" ? bounded(value) : bounded(Formatter.formatJson(plain(value)))

/** Texts form the message; everything else that was logged beside them is data. */
const entryOf = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>) => {
  const parts = Array.ensure(message)
  const texts = parts.filter((part) => typeof part === "string")
  const data = parts.filter((part) => typeof part !== "string").map(plain)
  const { correlationId, ...annotations } = fiber.getRef(References.CurrentLogAnnotations)
  const { span } = fiber.cache
  return {
    timestamp: date.toISOString(),
    level: logLevel,
    message: bounded(texts.join(" ")),
    correlationId: correlationId ?? span?.traceId,
    spanId: span?.spanId,
    data: data.length === 0 ? undefined : data.length === 1 ? data[0] : data,
    annotations: Object.entries(annotations).map(([name, value]) => [name, plain(value)] as const),
    cause: cause.reasons.length === 0 ? undefined : bounded(Cause.pretty(cause))
  }
}

/**
 * Fields: timestamp, level, service, message, correlationId (the request's, else the trace id), spanId, data, cause,
 * and all annotations.
 */
export const jsonLine = (service: string): Logger.Logger<unknown, string> =>
  Logger.make((options) => {
    const { annotations, data, timestamp, level, ...rest } = entryOf(options)
    const entry = { timestamp, level, service, ...rest }
    const line = Formatter.formatJson({ ...Object.fromEntries(annotations), ...entry, data })
    return line.length <= longestLine
      ? line
      : Formatter.formatJson({ ...entry, data: `${line.length} characters left out` })
  })

export const prettyLine: Logger.Logger<unknown, string> = Logger.make((options) => {
  const { timestamp, level, message, correlationId, data, annotations, cause } = entryOf(options)
  const pairs = annotations.map(([name, value]) => `${name}=${asText(value)}`)
  const tail = [
    ...(data === undefined ? [] : [asText(data)]),
    ...pairs,
    ...(correlationId === undefined ? [] : [`trace=${asText(correlationId)}`])
  ]
  const line = [timestamp.slice(11, 23), level.toUpperCase().padEnd(5), message, ...tail].join(" ")
  return cause === undefined ? line : `${line}\n${cause}`
})
