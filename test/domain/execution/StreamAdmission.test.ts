/** Who may have how many streams open in a process. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { ApiKeyId, SessionId, TenantId } from "#domain/Ids.ts"
import { type StreamHolder, StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"

const settings: StreamSettings["Service"] = {
  maxOpen: 6,
  maxOpenPerTenant: 5,
  maxOpenPerKey: 3,
  maxOpenPerSession: 2,
  maxOpenPerAddress: 4,
  pollIntervalMs: 250
}

const Admission = StreamAdmission.layer.pipe(Layer.provide(Layer.succeed(StreamSettings, settings)))

const id = (prefix: string, digit: number) => `${prefix}_01JQ8ZP3T5V7X9Z1B3D5F7H9K${digit}`
const credentials = {
  key: (digit: number) => ApiKeyId.make(id("key", digit)),
  ses: (digit: number) => SessionId.make(id("ses", digit))
}

const holder = (tenant: number, [kind, digit]: readonly ["key" | "ses", number], address: number): StreamHolder => ({
  tenantId: TenantId.make(id("tn", tenant)),
  credential: credentials[kind](digit),
  address: `192.0.2.${address}`
})

const enter = (one: StreamHolder) => Effect.flatMap(StreamAdmission, (admission) => admission.enter(one))

/** As many as there may be of the one, and then the refusal of another. */
const refusedAfter = (count: number, holderOf: (index: number) => StreamHolder) =>
  Effect.gen(function* () {
    for (let index = 0; index < count; index += 1) yield* enter(holderOf(index))
    const { message, retryAfterSeconds } = yield* Effect.flip(enter(holderOf(count)))
    assert.isAtLeast(retryAfterSeconds, 1)
    return message
  })

describe("open streams", () => {
  const cases = [
    ["a key", 3, "The key key_01JQ8ZP3T5V7X9Z1B3D5F7H9K1 has 3", (at: number) => holder(1, ["key", 1], at)],
    ["a wallet session", 2, "The wallet session has 2", (at: number) => holder(1, ["ses", 1], at)],
    ["an address", 4, "The address has 4", (at: number) => holder(at, ["key", at], 1)],
    ["a tenant", 5, "The tenant has 5", (at: number) => holder(1, ["key", at], at)],
    ["a process", 6, "6 streams are open here", (at: number) => holder(at, ["ses", at], at)]
  ] as const
  for (const [who, most, message, holderOf] of cases) {
    it.effect(`are limited for ${who}`, () =>
      Effect.map(refusedAfter(most, holderOf), (refusal) => assert.include(refusal, message)).pipe(
        Effect.scoped,
        Effect.provide(Admission)
      )
    )
  }

  it.effect("that were refused are not counted, and those that close free every place that they took", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 5; round += 1) {
        const scope = yield* Scope.make()
        yield* refusedAfter(3, (at) => holder(1, ["key", 1], at)).pipe(Scope.provide(scope))
        yield* Scope.close(scope, Exit.void)
      }
    }).pipe(Effect.provide(Admission))
  )
})
