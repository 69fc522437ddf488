import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { ChainNodes } from "#domain/chain/ChainNodes.ts"
import { DatabaseProbe } from "#domain/health/DatabaseProbe.ts"
import { Readiness } from "#domain/health/Readiness.ts"
import { PriceLimits } from "#domain/market/PriceLimits.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { StallMonitor } from "#domain/relay/StallMonitor.ts"

const World = Readiness.layer.pipe(
  Layer.provideMerge(PriceLimits.layer),
  Layer.provide([
    Layer.mock(OperationStore, { oldestDue: () => Effect.succeed(Option.none()) }),
    Layer.succeed(ChainNodes, { behind: Effect.succeed([]) }),
    Layer.mock(DatabaseProbe, { write: Effect.void }),
    Layer.mock(Scheduler, { lastTickAt: DateTime.now }),
    Layer.mock(StallMonitor, { ages: Effect.succeed({ moving: 0, retrying: 0 }), low: Effect.succeed([]) })
  ])
)

it.effect("readiness says that prices are limited, which makes no process unready", () =>
  Effect.gen(function* () {
    const { check } = yield* Readiness
    assert.include((yield* check).checks["prices"]!.detail, "refused no request")
    yield* (yield* PriceLimits).meet({ tokensPerRequest: 1, reason: "the words of the source" })
    const { checks, ready } = yield* check
    assert.isTrue(ready)
    assert.strictEqual(checks["prices"]!.detail, "prices are limited to 1 tokens a request: the words of the source")
  }).pipe(Effect.provide(World))
)
