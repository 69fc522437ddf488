/** What is said of a statement: its operation, its table, and a summary of all of its parts. */
import { assert, describe, it } from "@effect/vitest"
import { statementNames } from "#layers/telemetry/statementNames.ts"

const cases: ReadonlyArray<readonly [text: string, operation: string, table: string | undefined, summary: string]> = [
  ["SELECT 1", "SELECT", undefined, "SELECT"],
  ["  select name from strategies where id = $1", "SELECT", "strategies", "SELECT strategies"],
  ["SELECT * FROM a JOIN b USING (id) WHERE x = 'from c'", "SELECT", undefined, "SELECT a b"],
  [
    "SELECT portfolio_id FROM schedules WHERE due_at < $1 FOR UPDATE SKIP LOCKED",
    "SELECT",
    "schedules",
    "SELECT schedules"
  ],
  ["SELECT * FROM unnest($1::text[]) AS wanted (id) JOIN tenants ON true", "SELECT", "tenants", "SELECT tenants"],
  [
    `INSERT INTO "runs" (a, b) VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET b = excluded.b`,
    "INSERT",
    "runs",
    "INSERT runs"
  ],
  ["INSERT INTO runs (a) SELECT a FROM schedules", "INSERT", "runs", "INSERT runs SELECT schedules"],
  ["UPDATE operations SET state = $1 FROM schedules WHERE true", "UPDATE", "operations", "UPDATE operations schedules"],
  ["DELETE FROM sessions WHERE expires_at < $1", "DELETE", "sessions", "DELETE sessions"],
  [
    "-- what is due\nWITH due AS MATERIALIZED (SELECT id FROM schedules FOR UPDATE), ends (id) AS (SELECT id FROM due)\nUPDATE portfolios SET x = 1 FROM ends",
    "UPDATE",
    "portfolios",
    "SELECT schedules SELECT UPDATE portfolios"
  ],
  ["WITH held AS (SELECT 1 FROM a) SELECT * FROM held", "SELECT", undefined, "SELECT a SELECT"],
  ["LISTEN calls", "LISTEN", undefined, "LISTEN"],
  ["SET application_name = 'x'", "_OTHER", undefined, "_OTHER"],
  ["", "_OTHER", undefined, "_OTHER"]
]

describe("names of statements", () => {
  it.each(cases)("%s", (...[text, operation, table, summary]) => {
    assert.deepStrictEqual(statementNames(text), { operation, table, summary })
  })

  it("a summary is bounded, and a text of any length is read in little time", () => {
    const many = Array.from({ length: 500 }, (_, index) => `table_${index}`)
    assert.isAtMost(statementNames(`SELECT * FROM ${many.join(" JOIN ")}`).summary.length, 255)
    assert.strictEqual(statementNames(`SELECT ${"(".repeat(500_000)}`).operation, "SELECT")
  })
})
