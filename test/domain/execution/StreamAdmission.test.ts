/** Who may have how many streams open in a process. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import { KeyInvalid, TenantDisabled } from "#domain/errors/Errors.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { type AccessEnded, type Credential, StandingAccess } from "#domain/identity/access/StandingAccess.ts"
import { ApiKeyId, SessionId, TenantId } from "#domain/values/Ids.ts"
import { type StreamHolder, StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"

const settings: StreamSettings["Service"] = {
  maxOpen: 9,
  maxOpenPerTenant: 5,
  maxOpenPerKey: 3,
  maxOpenPerAddress: 4,
  maxOpenOfSessions: 6,
  maxOpenPerSession: 2,
  maxOpenOfSessionsPerTenant: 4,
  maxOpenOfSessionsPerAddress: 3,
  pollIntervalMs: 250,
  recheckIntervalMs: 15_000
}

/** Who is refused from now on, by credential; a fault of the database instead where `fails`. */
class Refused extends Context.Service<
  Refused,
  { readonly now: Map<Credential, AccessEnded>; readonly asked: Array<ReadonlyArray<Credential>>; fails: boolean }
>()("ballast/test/Refused") {
  static readonly layer = Layer.sync(Refused, () => ({ now: new Map(), asked: [], fails: false }))
}

const Access = Layer.effect(
  StandingAccess,
  Effect.map(Refused, (refused) => ({
    refusals: (credentials, scope) =>
      Effect.suspend(() => {
        assert.strictEqual(scope, "portfolios:read")
        refused.asked.push(credentials)
        return refused.fails ? Effect.die(new Error("no connection")) : Effect.succeed(refused.now)
      })
  }))
)

const Admission = StreamAdmission.layer.pipe(
  Layer.provide(Layer.succeed(StreamSettings, settings)),
  Layer.provide(Access),
  Layer.provideMerge(Layer.merge(Refused.layer, AccessChanges.layer))
)

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

/** Opens as many streams as there may be, and then asks for another one, which is refused. */
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
    ["keys of an address", 4, "The address has 4", (at: number) => holder(at, ["key", at], 1)],
    ["keys of a tenant", 5, "The tenant has 5", (at: number) => holder(1, ["key", at], at)],
    ["a wallet session", 2, "The wallet session has 2", (at: number) => holder(1, ["ses", 1], at)],
    ["sessions of an address", 3, "of the address have 3", (at: number) => holder(at, ["ses", at], 1)],
    ["sessions of a tenant", 4, "of the tenant have 4", (at: number) => holder(1, ["ses", at], at)],
    ["all sessions", 6, "All wallet sessions have 6", (at: number) => holder(at, ["ses", at], at)],
    ["a process", 9, "9 streams are open here", (at: number) => holder(at, ["key", at], at)]
  ] as const
  for (const [who, most, message, holderOf] of cases) {
    it.effect(`are limited for ${who}`, () =>
      Effect.map(refusedAfter(most, holderOf), (refusal) => assert.include(refusal, message)).pipe(
        Effect.scoped,
        Effect.provide(Admission)
      )
    )
  }

  it.effect("of keys have room whatever wallet sessions take, of their own tenant and address too", () =>
    Effect.gen(function* () {
      yield* refusedAfter(6, (at) => holder(at, ["ses", at], at))
      for (let stream = 0; stream < 3; stream += 1) yield* enter(holder(1, ["key", 1], 1))
      const { message } = yield* Effect.flip(enter(holder(2, ["key", 2], 2)))
      assert.include(message, "9 streams are open here")
    }).pipe(Effect.scoped, Effect.provide(Admission))
  )

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

/** Why a stream was ended; undefined while it may be open. */
const endOf = Effect.fnUntraced(function* (one: StreamHolder) {
  const permit = yield* enter(one)
  let end: string | undefined
  permit.onEnd(({ _tag }) => (end = _tag))
  return () => end
})

const silent = Layer.succeed(References.MinimumLogLevel, "None")
const revoked = new KeyInvalid({ message: "revoked" })

/** Lets what was begun go on; no time passes. */
const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

describe("holders of open streams", () => {
  it.effect("are judged again at each heartbeat, all in one question, and the refused are told why", () =>
    Effect.gen(function* () {
      const refused = yield* Refused
      const gone = yield* endOf(holder(1, ["key", 1], 1))
      const also = yield* endOf(holder(1, ["key", 1], 2))
      const other = yield* endOf(holder(2, ["ses", 2], 3))
      refused.now.set(credentials.key(1), revoked)
      yield* TestClock.adjust(14_999)
      assert.deepStrictEqual([gone(), also(), other()], [undefined, undefined, undefined])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([gone(), also(), other()], ["KeyInvalid", "KeyInvalid", undefined])
      assert.deepStrictEqual(refused.asked, [[credentials.key(1), credentials.ses(2)]])
    }).pipe(Effect.scoped, Effect.provide(Admission))
  )

  it.effect("of a tenant whose access this process changed are judged at once, and no other's", () =>
    Effect.gen(function* () {
      const refused = yield* Refused
      const gone = yield* endOf(holder(1, ["key", 1], 1))
      const other = yield* endOf(holder(2, ["key", 2], 1))
      refused.now.set(credentials.key(1), revoked).set(credentials.key(2), revoked)
      yield* (yield* AccessChanges).changed(holder(1, ["key", 1], 1).tenantId)
      yield* settle
      assert.deepStrictEqual([gone(), other()], ["KeyInvalid", undefined])
    }).pipe(Effect.scoped, Effect.provide(Admission))
  )

  it.effect("keep their streams while nobody can be asked, and are judged at a later heartbeat", () =>
    Effect.gen(function* () {
      const refused = yield* Refused
      const gone = yield* endOf(holder(1, ["key", 1], 1))
      refused.now.set(credentials.key(1), revoked)
      refused.fails = true
      yield* TestClock.adjust(15_000)
      assert.isUndefined(gone())
      refused.fails = false
      yield* TestClock.adjust(30_000)
      assert.strictEqual(gone(), "KeyInvalid")
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Admission, silent)))
  )

  it.effect("are asked for no longer when their streams have closed", () =>
    Effect.gen(function* () {
      const refused = yield* Refused
      yield* Effect.scoped(enter(holder(1, ["key", 1], 1)))
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(refused.asked, [])
    }).pipe(Effect.provide(Admission))
  )

  it.effect("who are told late are told at once", () =>
    Effect.gen(function* () {
      const permit = yield* enter(holder(1, ["key", 1], 1))
      permit.end(revoked)
      permit.end(new TenantDisabled({ message: "later" }))
      assert.strictEqual((yield* Effect.flip(permit.ended))._tag, "KeyInvalid")
    }).pipe(Effect.scoped, Effect.provide(Admission))
  )
})
