/** Rules of Prometheus evaluated by its own `promtool`, which Debian's package prometheus has. */
import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse, stringify } from "yaml"

const folder = join(import.meta.dirname, "../../../deploy/prometheus")
export const ruleFiles = ["alerts.yaml", "slo.yaml"].map((file) => join(folder, file))

interface Rule {
  readonly alert?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

const rules = ruleFiles.flatMap((file) =>
  (parse(readFileSync(file, "utf8")).groups as ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }>).flatMap(
    (group) => group.rules
  )
)

/** How an alert is expected that fires, with the labels of its series. */
export const firing = (name: string, own: Readonly<Record<string, string>> = {}) => {
  const rule = rules.find(({ alert }) => alert === name)!
  const filled = Object.entries(rule.annotations!).map(([key, text]) => [
    key,
    text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/gu, (_, label: string) => own[label]!)
  ])
  return { exp_labels: { ...rule.labels, ...own }, exp_annotations: Object.fromEntries(filled) }
}

/** Alerts that are expected, by their names; those of an empty list do not fire. */
export type ExpectedAlerts = Readonly<Record<string, ReadonlyArray<ReturnType<typeof firing>>>>

export interface Series {
  readonly series: string
  /** Values minute by minute, as promtool writes them. */
  readonly values: string
}

export const promtool = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly isGood: boolean; readonly output: string }>((resolve) =>
    execFile("promtool", [...args], (error, stdout, stderr) =>
      resolve({ isGood: error === null, output: `${stdout}\n${stderr}` })
    )
  )

export const hasPromtool = () => {
  try {
    execFileSync("promtool", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

export interface RuleTest {
  readonly series: ReadonlyArray<Series>
  /** Minutes after which alerts and expressions are evaluated. */
  readonly at: number
  readonly alerts: ExpectedAlerts
  readonly expressions?: ReadonlyArray<{ readonly expr: string; readonly value: number }>
}

/** What promtool says of a test; empty when it passes. */
export const complaintsOf = async ({ alerts, at, expressions = [], series }: RuleTest): Promise<string> => {
  const own = mkdtempSync(join(tmpdir(), "ballast-rules-"))
  try {
    const file = join(own, "test.yaml")
    const time = `${at}m`
    const test = {
      rule_files: ruleFiles,
      evaluation_interval: "1m",
      tests: [
        {
          interval: "1m",
          input_series: series,
          alert_rule_test: Object.entries(alerts).map(([alertname, exp_alerts]) => ({
            eval_time: time,
            alertname,
            exp_alerts
          })),
          promql_expr_test: expressions.map(({ expr, value }) => ({
            expr,
            eval_time: time,
            exp_samples: [{ labels: "{}", value }]
          }))
        }
      ]
    }
    writeFileSync(file, stringify(test))
    const { isGood, output } = await promtool("test", "rules", file)
    return isGood ? "" : output
  } finally {
    rmSync(own, { recursive: true })
  }
}
