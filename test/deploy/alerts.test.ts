/** What no one would notice otherwise: each of these alerts fires when its fault is there, and not when it is none. */
import { assert, describe, it } from "@effect/vitest"
import { complaintsOf, type ExpectedAlerts, firing, hasPromtool, type Series } from "#test/deploy/support/promtool.ts"

const minutes = 120
/** A process that ticks every minute; of values that end, the process has ended. */
const ticks = (instance: string, values = `0+60x${minutes}`): Series => ({
  series: `ballast_scheduler_last_tick_seconds{instance="${instance}"}`,
  values
})
const gauge = (series: string, values: string): Series => ({ series, values })
const alive = ticks("a")
const quiet: ExpectedAlerts = {
  BallastNoProcess: [],
  BallastSchedulerStopped: [],
  BallastProcessStopped: [],
  BallastProcessGone: []
}

interface Case {
  readonly name: string
  readonly series: ReadonlyArray<Series>
  readonly at?: number
  readonly alerts: ExpectedAlerts
}

const cases: ReadonlyArray<Case> = [
  { name: "three processes that tick", series: [alive, ticks("b"), ticks("c")], alerts: quiet },
  {
    name: "the whole fleet dies",
    series: [ticks("a", "0+60x30"), ticks("b", "0+60x30")],
    at: 60,
    alerts: { ...quiet, BallastNoProcess: [firing("BallastNoProcess")] }
  },
  {
    name: "two of three processes never tick",
    series: [alive, ticks("b", `60x${minutes}`), ticks("c", `60x${minutes}`)],
    alerts: {
      ...quiet,
      BallastProcessStopped: ["b", "c"].map((instance) => firing("BallastProcessStopped", { instance }))
    }
  },
  {
    name: "one of two processes dies",
    series: [alive, ticks("b", "0+60x80")],
    at: 100,
    alerts: { ...quiet, BallastProcessGone: [firing("BallastProcessGone")] }
  },
  {
    name: "a rolling restart gives every process another name",
    series: [
      ticks("a", "0+60x80"),
      ticks("b", "0+60x81"),
      ticks("c", "_x80 4800+60x40"),
      ticks("d", "_x81 4860+60x39")
    ],
    at: 100,
    alerts: quiet
  },
  {
    name: "runs are suspended",
    series: [alive, gauge("ballast_engine_runs_suspended", `0x50 5x70`)],
    alerts: { ...quiet, BallastRunsSuspended: [firing("BallastRunsSuspended")] }
  },
  {
    name: "runs are suspended no longer",
    series: [alive, gauge("ballast_engine_runs_suspended", `5x50 0x70`)],
    alerts: { ...quiet, BallastRunsSuspended: [] }
  },
  {
    name: "a withdrawal fails among those that are paid",
    series: [
      gauge('ballast_withdrawals_total{outcome="completed"}', `0+1x${minutes}`),
      gauge('ballast_withdrawals_total{outcome="failed"}', `0x100 1x20`)
    ],
    at: 110,
    alerts: { BallastWithdrawalsFail: [firing("BallastWithdrawalsFail")] }
  },
  {
    name: "withdrawals are paid or cancelled",
    series: [
      gauge('ballast_withdrawals_total{outcome="completed"}', `0+1x${minutes}`),
      gauge('ballast_withdrawals_total{outcome="cancelled"}', `0+1x${minutes}`),
      gauge('ballast_withdrawals_total{outcome="failed"}', `3x${minutes}`)
    ],
    alerts: { BallastWithdrawalsFail: [] }
  },
  {
    name: "a workflow fails, beside those that failed long ago",
    series: [gauge("ballast_monitors_failed", "3x90 4x30")],
    at: 100,
    alerts: { BallastWorkflowsFail: [firing("BallastWorkflowsFail")] }
  },
  {
    name: "workflows failed long ago",
    series: [gauge("ballast_monitors_failed", `3x${minutes}`)],
    alerts: { BallastWorkflowsFail: [] }
  },
  {
    name: "discovery is not measured any more",
    series: [gauge("ballast_discovery_last_pass_seconds", `0+60x60 3600x60`)],
    alerts: { BallastDiscoveryStale: [firing("BallastDiscoveryStale")] }
  },
  {
    name: "discovery is measured every five minutes",
    series: [gauge("ballast_discovery_last_pass_seconds", "0+60x120")],
    alerts: { BallastDiscoveryStale: [] }
  },
  {
    name: "the attestor refuses most prices",
    series: [
      gauge('ballast_attestations_total{outcome="signed"}', "0+1x120"),
      gauge('ballast_attestations_total{outcome="sources_disagree"}', "0+2x120")
    ],
    alerts: { BallastAttestorRefuses: [firing("BallastAttestorRefuses")] }
  },
  {
    name: "the attestor refuses a price now and then",
    series: [
      gauge('ballast_attestations_total{outcome="signed"}', "0+9x120"),
      gauge('ballast_attestations_total{outcome="sources_disagree"}', "0+1x120")
    ],
    alerts: { BallastAttestorRefuses: [] }
  },
  {
    name: "one of two endpoints stands",
    series: [
      gauge('ballast_chain_endpoint_behind{chain="8453",endpoint="1"}', "0x60 0+30x60"),
      gauge('ballast_chain_endpoint_behind{chain="8453",endpoint="2"}', "0x120")
    ],
    alerts: { BallastEndpointBehind: [firing("BallastEndpointBehind", { chain: "8453", endpoint: "1" })] }
  },
  {
    name: "an endpoint is behind for a moment",
    series: [gauge('ballast_chain_endpoint_behind{chain="8453",endpoint="1"}', "0x110 5x2 0x8")],
    alerts: { BallastEndpointBehind: [] }
  },
  {
    name: "the stream worker dies",
    series: [alive, gauge('ballast_stream_sockets{instance="s"}', "40x60")],
    alerts: { ...quiet, BallastStreamWorkerGone: [firing("BallastStreamWorkerGone")] }
  },
  {
    name: "one of two stream workers dies",
    series: [
      alive,
      gauge('ballast_stream_sockets{instance="s"}', "40x60"),
      gauge('ballast_stream_sockets{instance="t"}', "40x120")
    ],
    alerts: { ...quiet, BallastStreamWorkerGone: [] }
  },
  { name: "there is no stream worker", series: [alive], alerts: { ...quiet, BallastStreamWorkerGone: [] } }
]

describe("alerts about what is silent", () => {
  if (!hasPromtool()) {
    it.skip("skipped because promtool is not installed on this machine (Debian's package prometheus has it)", () => {})
    return
  }

  for (const { alerts, at = minutes - 5, name, series } of cases)
    it(name, async () => assert.strictEqual(await complaintsOf({ series, alerts, at }), ""))
})
