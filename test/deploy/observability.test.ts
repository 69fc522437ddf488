/** Alerts, dashboard and runbook name what the service measures, in a language that their readers understand. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { readPromQl } from "#test/deploy/promql.ts"
import { metrics, namesOf, unitOf } from "#test/deploy/prometheusNames.ts"

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")

const duration = Schema.String.check(Schema.isPattern(/^[0-9]+(ms|s|m|h|d)$/u))

const Alert = Schema.Struct({
  alert: Schema.String.check(Schema.isPattern(/^Ballast[A-Za-z]+$/u)),
  expr: Schema.NonEmptyString,
  for: duration,
  labels: Schema.Struct({ severity: Schema.Literals(["page", "ticket"]) }),
  annotations: Schema.Struct({ summary: Schema.NonEmptyString, runbook: Schema.NonEmptyString })
})

/** The form of a file of rules, by Prometheus's documentation; nothing else may stand in it. */
const Rules = Schema.Struct({
  groups: Schema.NonEmptyArray(
    Schema.Struct({
      name: Schema.NonEmptyString,
      rules: Schema.NonEmptyArray(Alert)
    })
  )
})

/** Rules that record what alerts compare, and those alerts. */
const Objectives = Schema.Struct({
  groups: Schema.NonEmptyArray(
    Schema.Struct({
      name: Schema.NonEmptyString,
      rules: Schema.NonEmptyArray(
        Schema.Union([
          Schema.Struct({
            record: Schema.String.check(Schema.isPattern(/^ballast:[a-z]+:[a-z0-9_]+$/u)),
            expr: Schema.NonEmptyString
          }),
          Alert
        ])
      )
    })
  )
})

const Dashboard = Schema.Struct({
  uid: Schema.NonEmptyString,
  title: Schema.NonEmptyString,
  schemaVersion: Schema.Int,
  panels: Schema.NonEmptyArray(
    Schema.Struct({
      id: Schema.Int,
      type: Schema.Literal("timeseries"),
      title: Schema.NonEmptyString,
      gridPos: Schema.Struct({ h: Schema.Int, w: Schema.Int, x: Schema.Int, y: Schema.Int }),
      targets: Schema.NonEmptyArray(
        Schema.Struct({ refId: Schema.NonEmptyString, expr: Schema.NonEmptyString, legendFormat: Schema.String })
      )
    })
  )
})

const strict = { onExcessProperty: "error" } as const
const alerts = Schema.decodeUnknownSync(Rules)(parse(read("deploy/prometheus/alerts.yaml")), strict).groups.flatMap(
  (group) => group.rules
)
const objectives = Schema.decodeUnknownSync(Objectives)(parse(read("deploy/prometheus/slo.yaml")), strict).groups
const recorded = objectives.flatMap((group) => group.rules.flatMap((rule) => ("record" in rule ? [rule] : [])))
const budgetAlerts = objectives.flatMap((group) => group.rules.flatMap((rule) => ("alert" in rule ? [rule] : [])))
const rules = [...alerts, ...budgetAlerts]
const dashboard = Schema.decodeUnknownSync(Dashboard)(JSON.parse(read("deploy/grafana/ballast.json")))
const targets = dashboard.panels.flatMap((panel) => panel.targets)
const operations = read("docs/operations.md")

const series = new Set([...metrics.flatMap(namesOf), ...recorded.map(({ record }) => record)])
const known = new Set([...series, ...metrics.map((metric) => namesOf(metric)[0]!.replace(/_bucket$/u, ""))])

const unknownOf = (expressions: ReadonlyArray<string>) =>
  expressions.flatMap((expression) => readPromQl(expression).metrics.filter((name) => !series.has(name)))

describe("observability of a deployment", () => {
  it("every metric has a unit of UCUM, which Prometheus shows in its name", () => {
    assert.isAbove(metrics.length, 35)
    for (const metric of metrics) {
      assert.match(unitOf(metric), /^(s|By|1|\{[a-z]+\})$/u, metric.id)
      // A ratio is a gauge; what is counted has its own word.
      if (metric.type === "Counter") assert.notStrictEqual(unitOf(metric), "1", metric.id)
    }
    assert.strictEqual(new Set(metrics.map(({ id }) => id)).size, metrics.length)
  })

  it("every expression is PromQL by Prometheus's own grammar", () => {
    for (const { expr } of [...rules, ...recorded, ...targets])
      assert.deepStrictEqual(readPromQl(expr).errors, [], expr)
    assert.isNotEmpty(readPromQl("sum by (le (rate(x[5m]))").errors)
  })

  it("every metric that an alert or the dashboard names exists", () => {
    assert.deepStrictEqual(unknownOf([...rules, ...recorded, ...targets].map(({ expr }) => expr)), [])
    assert.deepStrictEqual(unknownOf(["rate(ballast_scheduler_misspelt_total[5m])"]), [
      "ballast_scheduler_misspelt_total"
    ])
  })

  it("availability, latency and their alerts count calls over Effect's RPC in place of the requests that contain them", () => {
    const native = String.raw`rpc_system_name="effect_rpc"`
    const counting = [...rules, ...recorded].filter(({ expr }) => expr.includes("http_server_request_duration"))
    assert.lengthOf(counting, 12)
    for (const { expr } of counting) {
      const calls = [...expr.matchAll(/rpc_server_call_duration_seconds_[a-z]+\{([^}]*)\}/gu)].map(
        ([, labels]) => labels!
      )
      assert.isAtLeast(calls.length, expr.includes("quantile") ? 1 : 2, expr)
      for (const labels of calls) assert.include(labels, native)
      // What all answers are counted by leaves out the requests, and what is a fault is one of a call too.
      if (!expr.includes("quantile")) assert.match(expr.split(" / ")[1]!, /http_route![=~]"[^"]*\/v1\/rpc"/u)
      if (expr.includes('http_response_status_code=~"5.."'))
        assert.isTrue(
          calls.some((labels) => labels.includes('rpc_response_status_code=~"5.."')),
          expr
        )
    }
  })

  it("every alert has an entry in the runbook, and the runbook no other", () => {
    const [, section = ""] = operations.split("### Alerts")
    const listed = [...section.matchAll(/^\| `(Ballast[A-Za-z]+)`/gmu)].map(([, name]) => name)
    assert.deepStrictEqual(
      listed,
      rules.map(({ alert }) => alert)
    )
    assert.strictEqual(new Set(listed).size, listed.length)
    for (const { annotations } of rules) assert.strictEqual(annotations.runbook, "docs/operations.md#alerts")
  })

  it("objectives burn by the windows and factors of docs/operations.md, each budget the one that it states", () => {
    const [, section = ""] = operations.split("### Objectives")
    const stated = new Map(
      [...section.matchAll(/^\| `([a-z]+)` +\| .*? \| ([0-9.]+) % +\|/gmu)].map(([, name, percent]) => [
        name!,
        Number(((100 - Number(percent)) / 100).toFixed(6))
      ])
    )
    assert.sameMembers(
      [...stated.keys()],
      objectives.map(({ name }) => name.replace("ballast-slo-", ""))
    )
    const pattern =
      /\(ballast:([a-z]+):errors_([0-9a-z]+) > ([0-9.]+) \* ([0-9.]+) and ballast:\1:errors_([0-9a-z]+) > \3 \* \4\)/gu
    for (const [name, budget] of stated) {
      const [fast, slow] = budgetAlerts
        .filter(({ expr }) => expr.includes(`ballast:${name}:`))
        .map(({ expr }) =>
          [...expr.matchAll(pattern)].map(([, , long, factor, of, short]) => [long, short, factor, of])
        )
      const of = String(budget)
      assert.deepStrictEqual(fast, [
        ["1h", "5m", "14.4", of],
        ["6h", "30m", "6", of]
      ])
      assert.deepStrictEqual(slow, [["3d", "6h", "1", of]])
    }
  })

  it("docs/operations.md and docs/errors.md name only metrics that exist", () => {
    const pattern = /`((?:ballast|http|rpc|db|process|v8js|nodejs)_[a-z0-9_]+)`/gu
    const named = [...`${operations}${read("docs/errors.md")}`.matchAll(pattern)].map(([, name]) => name!)
    const labels = new Set([
      "http_route",
      "http_response_status_code",
      "rpc_method",
      "ballast_chain_id",
      "db_operation_name",
      "http_request_method",
      "rpc_system_name",
      "rpc_response_status_code",
      "db_client_connection_state"
    ])
    assert.isAbove(named.length, 30)
    assert.deepStrictEqual(
      named.filter((name) => !known.has(name) && !labels.has(name)),
      []
    )
  })

  it("the panels of the dashboard have ids of their own and do not overlap", () => {
    const ids = dashboard.panels.map(({ id }) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
    const places = dashboard.panels.map(({ gridPos: { w, x, y } }) => {
      assert.isAtMost(x + w, 24)
      return `${x},${y}`
    })
    assert.strictEqual(new Set(places).size, places.length)
  })
})
