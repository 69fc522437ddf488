/** What an idle process does all day is not exported; what came of a poll is. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import { quietPolls } from "#layers/telemetry/quietPolls.ts"

/** Runs a program and answers the names of the spans that were exported, in their order. */
const exportedBy = Effect.fnUntraced(function* (program: Effect.Effect<unknown, unknown>) {
  const names: Array<string> = []
  const recorder = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        names.push(options.name)
        end(time, exit)
      }
      return span
    }
  })
  yield* Effect.exit(Effect.provideService(program, Tracer.Tracer, quietPolls(recorder)))
  return names
})

const statement = Effect.void.pipe(
  Effect.withSpan("postgres", { kind: "client", attributes: { "db.system.name": "postgresql" } })
)
const call = Effect.void.pipe(Effect.withSpan("evm.eth_call", { kind: "client" }))

describe("quietPolls", () => {
  it.effect("a poll that only asked the database is dropped, whatever it consists of", () =>
    Effect.gen(function* () {
      const poll = statement.pipe(Effect.withSpan("Store.take"), Effect.withSpan("tick"))
      assert.deepStrictEqual(yield* exportedBy(Effect.andThen(poll, poll)), [])
      assert.deepStrictEqual(yield* exportedBy(statement), [])
    })
  )

  it.effect("a poll that found work is exported whole, what came before the work too", () =>
    Effect.gen(function* () {
      const tick = Effect.all([statement, call, statement]).pipe(Effect.withSpan("tick"))
      assert.deepStrictEqual(yield* exportedBy(tick), ["postgres", "evm.eth_call", "postgres", "tick"])
    })
  )

  it.effect("a poll that failed is exported", () =>
    Effect.gen(function* () {
      const failed = Effect.andThen(statement, Effect.fail("away")).pipe(Effect.withSpan("tick"))
      assert.deepStrictEqual(yield* exportedBy(failed), ["postgres", "tick"])
    })
  )

  it.effect("work that a poll began and that goes on after it is exported", () =>
    Effect.gen(function* () {
      const late = Effect.gen(function* () {
        const parent = yield* Effect.currentSpan.pipe(Effect.withSpan("tick"))
        yield* Effect.andThen(statement, call).pipe(Effect.withSpan("run", { parent }))
      })
      assert.deepStrictEqual(yield* exportedBy(late), ["postgres", "evm.eth_call", "run"])
    })
  )

  it.effect("a request is exported, and a trace of the caller's", () =>
    Effect.gen(function* () {
      const request = statement.pipe(Effect.withSpan("GET /v2/whoami", { kind: "server" }))
      assert.deepStrictEqual(yield* exportedBy(request), ["postgres", "GET /v2/whoami"])
      const parent = Tracer.externalSpan({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" })
      const called = statement.pipe(Effect.withSpan("GET /v2/whoami", { kind: "server", parent }))
      assert.deepStrictEqual(yield* exportedBy(called), ["postgres", "GET /v2/whoami"])
    })
  )

  it.effect("covers no more than a poll of the database", () =>
    Effect.gen(function* () {
      const many = Effect.forEach(Array.from({ length: 100 }), () => statement).pipe(Effect.withSpan("pass"))
      assert.lengthOf(yield* exportedBy(many), 101)
    })
  )
})
