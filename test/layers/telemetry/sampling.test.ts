import { assert, describe, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import { sampling } from "#layers/telemetry/Telemetry.ts"

const sampledOf = (effect: Effect.Effect<unknown>, ratio: number) =>
  Effect.gen(function* () {
    const spans: Array<Tracer.Span> = []
    const recording = Tracer.make({
      span: (options) => {
        const span = Tracer.nativeTracer.span(options)
        spans.push(span)
        return span
      }
    })
    yield* Effect.provideService(effect, Tracer.Tracer, sampling(ratio)(recording))
    return spans.map(({ sampled }) => sampled)
  })

describe("sampling", () => {
  it.effect("takes the given share of new traces", () =>
    Effect.gen(function* () {
      const roots = Effect.replicateEffect(Effect.withSpan(Effect.void, "root"), 1_000, { discard: true })
      assert.strictEqual((yield* sampledOf(roots, 0.25)).filter(Boolean).length, 250)
      assert.strictEqual((yield* sampledOf(roots, 0)).filter(Boolean).length, 0)
      assert.strictEqual((yield* sampledOf(roots, 1)).filter(Boolean).length, 1_000)
    })
  )

  it.effect("children and callers' traces keep the first decision", () =>
    Effect.gen(function* () {
      const nested = Effect.withSpan(Effect.withSpan(Effect.void, "child"), "root")
      assert.deepStrictEqual(yield* sampledOf(Effect.andThen(nested, nested), 0.5), [false, false, true, true])
      const parent = Tracer.externalSpan({ traceId: "0".repeat(31) + "1", spanId: "0".repeat(15) + "1", sampled: true })
      assert.deepStrictEqual(yield* sampledOf(Effect.withSpan(Effect.void, "child", { parent }), 0), [true])
    })
  )
})
