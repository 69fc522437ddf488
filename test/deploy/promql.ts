/** PromQL, read by Prometheus's own grammar. */
import { parser } from "@prometheus-io/lezer-promql"

/**
 * What the grammar refuses in an expression, and the metrics that it names. Grafana's variables stand for a duration.
 */
export const readPromQl = (text: string) => {
  const expression = text.replaceAll("$__rate_interval", "5m")
  const metrics: Array<string> = []
  const errors: Array<string> = []
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.type.isError) errors.push(`at ${node.from}: ${expression.slice(node.from, node.from + 20)}`)
      if (node.name === "VectorSelector") {
        const name = node.node.getChild("Identifier")
        if (name !== null) metrics.push(expression.slice(name.from, name.to))
      }
    }
  })
  return { errors, metrics }
}
