/**
 * What the rules for Prometheus say of calls of procedures, evaluated by Prometheus's own `promtool`: faults that HTTP
 * answers with 200 are errors of the objective and reach the alerts, and nothing else does.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  complaintsOf,
  type ExpectedAlerts,
  firing,
  hasPromtool,
  promtool,
  ruleFiles
} from "#test/deploy/support/promtool.ts"

const minutes = 120
const perMinute = (count: number) => `0+${count}x${minutes}`

const http = (route: string, status: number, count: number) => ({
  series: `http_server_request_duration_seconds_count{http_route="${route}",http_response_status_code="${status}"}`,
  values: perMinute(count)
})

interface Calls {
  readonly status: number
  readonly count: number
  readonly method?: string
}

const get = "v2.portfolios.get"
const browse = "assets.browseAssets"

const calls = (system: "effect_rpc" | "json", { count, method = get, status }: Calls) => {
  const labels = { rpc_system_name: system, rpc_method: method, rpc_response_status_code: status }
  const text = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return { series: `rpc_server_call_duration_seconds_count{${text.join()}}`, values: perMinute(count) }
}

/** None of those about answers and calls fires. */
const silent: ExpectedAlerts = {
  BallastServerErrors: [],
  BallastProcedureFails: [],
  BallastAvailabilityBudgetFast: [],
  BallastAvailabilityBudgetSlow: []
}

const failing = (alerts: ExpectedAlerts): ExpectedAlerts => ({ ...silent, ...alerts })

const cases: ReadonlyArray<{
  readonly name: string
  readonly series: ReadonlyArray<{ readonly series: string; readonly values: string }>
  readonly alerts: ExpectedAlerts
  /** Share of the answers of five minutes that are errors of the objective, once all series go on. */
  readonly errors: number
}> = [
  {
    name: "requests of routes alone, all answered",
    series: [http("/v2/whoami", 200, 600)],
    alerts: silent,
    errors: 0
  },
  {
    name: "calls that are refused are errors of their senders",
    series: [
      http("/v1/rpc", 200, 600),
      calls("effect_rpc", { status: 404, count: 300 }),
      calls("effect_rpc", { status: 429, count: 300 })
    ],
    alerts: silent,
    errors: 0
  },
  {
    name: "one procedure over Effect's RPC fails while its requests are 200",
    series: [
      http("/v2/whoami", 200, 400),
      http("/v1/rpc", 200, 600),
      calls("effect_rpc", { status: 200, count: 500, method: browse }),
      calls("effect_rpc", { status: 500, count: 100 })
    ],
    alerts: failing({
      BallastServerErrors: [firing("BallastServerErrors")],
      BallastProcedureFails: [firing("BallastProcedureFails", { rpc_method: "v2.portfolios.get" })],
      BallastAvailabilityBudgetFast: [firing("BallastAvailabilityBudgetFast")],
      BallastAvailabilityBudgetSlow: [firing("BallastAvailabilityBudgetSlow")]
    }),
    errors: 0.1
  },
  {
    name: "a procedure on the interface's wire fails, and counts once, as its request",
    series: [
      http("/v2/whoami", 200, 900),
      http("/v1/rpc/v2.portfolios.get", 503, 100),
      calls("json", { status: 503, count: 100 }),
      calls("json", { status: 200, count: 900, method: browse })
    ],
    alerts: failing({
      BallastServerErrors: [firing("BallastServerErrors")],
      BallastProcedureFails: [firing("BallastProcedureFails", { rpc_method: "v2.portfolios.get" })],
      BallastAvailabilityBudgetFast: [firing("BallastAvailabilityBudgetFast")],
      BallastAvailabilityBudgetSlow: [firing("BallastAvailabilityBudgetSlow")]
    }),
    errors: 0.1
  },
  {
    name: "one call in two thousand fails, which the budget of a month bears",
    series: [
      http("/v1/rpc", 200, 2_000),
      calls("effect_rpc", { status: 200, count: 1_999 }),
      calls("effect_rpc", { status: 500, count: 1 })
    ],
    alerts: silent,
    errors: 0.0005
  }
]

describe("rules about calls of procedures", () => {
  if (!hasPromtool()) {
    it.skip("skipped because promtool is not installed on this machine (Debian's package prometheus has it)", () => {})
    return
  }

  it("are rules that Prometheus takes", async () => {
    const { isGood, output } = await promtool("check", "rules", ...ruleFiles)
    assert.isTrue(isGood, output)
  })

  for (const { alerts, errors, name, series } of cases) {
    it(name, async () => {
      const expressions = [{ expr: "round(ballast:availability:errors_5m, 0.0001)", value: errors }]
      assert.strictEqual(await complaintsOf({ series, alerts, at: minutes - 5, expressions }), "")
    })
  }
})
