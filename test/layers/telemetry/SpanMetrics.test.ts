/** Statements of the database as they are measured, over a real one. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Metric, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { SpanPropagationEnabled } from "effect/sql/Statement"
import { measured } from "#layers/telemetry/SpanMetrics.ts"
import { TestDatabase } from "#test/support/database.ts"

/** What ended, as it is exported. */
const spans: Array<Tracer.Span> = []

const recorded = (options: ConstructorParameters<typeof Tracer.NativeSpan>[0]) => {
  const span = new Tracer.NativeSpan(options)
  spans.push(span)
  return span
}

const Measured = Layer.effect(
  Tracer.Tracer,
  Effect.map(Effect.context<never>(), (context) =>
    measured(Context.pick(Metric.MetricRegistry)(context))(Tracer.make({ span: recorded }))
  )
)

const seriesOf = (name: string) =>
  Effect.map(Metric.snapshot, (all) =>
    all
      .filter(({ id }) => id === name)
      .map(({ attributes, state }) => ({
        ...(attributes as Readonly<Record<string, string>>),
        count: (state as { readonly count: number }).count
      }))
  )

layer(Layer.mergeAll(TestDatabase, Layer.succeed(SpanPropagationEnabled, true)).pipe(Layer.provideMerge(Measured)), {
  excludeTestServices: true
})("statements", (it) => {
  it.effect("are measured by operation, with their failures and their wait for a connection", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`SELECT 1`
      yield* sql`  select 2`
      yield* sql`INSERT INTO curated_strategies SELECT 1, strategy_id FROM strategies WHERE false`
      yield* sql`SET application_name = 'x'`
      yield* Effect.exit(sql`SELECT 1 FROM nowhere`)
      const durations = yield* seriesOf("db.client.operation.duration")
      const database = { unit: "s", "db.system.name": "postgresql" }
      for (const expected of [
        { ...database, "db.operation.name": "SELECT", count: 2 },
        { ...database, "db.operation.name": "INSERT", count: 1 },
        { ...database, "db.operation.name": "_OTHER", count: 1 },
        { ...database, "db.operation.name": "SELECT", "error.type": "SqlError", count: 1 }
      ])
        assert.deepInclude(durations, expected)
      const [waits] = yield* seriesOf("db.client.connection.wait_time")
      assert.isAtLeast(waits!.count, 5)
    })
  )

  it.effect("say on their spans, and by their names, what they do to which table", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      spans.length = 0
      yield* sql`SELECT strategy_id FROM strategies WHERE false`
      yield* sql`WITH none AS (SELECT strategy_id FROM strategies WHERE false) DELETE FROM curated_strategies
        WHERE strategy_id IN (SELECT strategy_id FROM none)`
      const said = spans
        .filter(({ attributes }) => attributes.has("db.query.text"))
        .map(({ attributes, name }) => [
          name,
          ...["db.operation.name", "db.collection.name", "db.query.summary"].map((key) => attributes.get(key))
        ])
      const summary = "SELECT strategies DELETE curated_strategies SELECT"
      assert.deepStrictEqual(said, [
        ["SELECT strategies", "SELECT", "strategies", "SELECT strategies"],
        [summary, "DELETE", "curated_strategies", summary]
      ])
    })
  )
})
