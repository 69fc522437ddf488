/** A store of request counters that answers, hangs and answers again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import { requestLimits } from "#src/service/requestLimits.ts"

/** The commands that a chunk of the Redis protocol holds, each as its words; chunks end with a command here. */
const commandsIn = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = text.split("\r\n")
  const commands: Array<ReadonlyArray<string>> = []
  for (let line = 0; lines[line]?.startsWith("*") === true;) {
    const words = Number(lines[line]!.slice(1))
    commands.push(Array.from({ length: words }, (_, word) => lines[line + 2 * word + 2]!))
    line += 1 + 2 * words
  }
  return commands
}

/** Speaks as much of the Redis protocol as the limits need: the counters are always at one, for a minute. */
const standInRedis = Effect.gen(function* () {
  const held: Array<() => void> = []
  const redis = {
    url: "",
    commands: [] as Array<string>,
    hangs: false,
    /** Answers what it was asked while it hung, as a stopped process does when it goes on. */
    resume: () => {
      redis.hangs = false
      for (const answer of held.splice(0)) answer()
    }
  }
  const answerTo = (words: ReadonlyArray<string>) => {
    const name = words[0]!.toUpperCase()
    if (name === "SCRIPT") return "$3\r\nsha\r\n"
    if (name !== "EVALSHA") return "+OK\r\n"
    const counters = Number(words[2])
    return `*${2 * counters}\r\n${":1\r\n:60000\r\n".repeat(counters)}`
  }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("data", (chunk) => {
      for (const words of commandsIn(chunk.toString("latin1"))) {
        redis.commands.push(words[0]!.toUpperCase())
        const answer = () => void socket.write(answerTo(words))
        if (redis.hangs) held.push(answer)
        else answer()
      }
    })
    socket.on("error", () => {})
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )
  redis.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
  return redis
})

const settings = Layer.succeed(RateLimitSettings, { global: 100, critical: 100, general: 100, burst: 3 })
const request = { address: "192.0.2.1", credential: "a key", tier: "burst" } as const

const evaluated = ({ commands }: { readonly commands: ReadonlyArray<string> }) =>
  commands.filter((name) => name === "EVALSHA").length

describe("limits in Redis", () => {
  it.live("cost one round trip a request", () =>
    Effect.gen(function* () {
      const redis = yield* standInRedis
      yield* Effect.gen(function* () {
        const { arrive, consume } = yield* RateLimits
        yield* arrive(request.address)
        yield* consume(request)
        const before = redis.commands.length
        for (let count = 1; count <= 5; count++) {
          yield* arrive(request.address)
          assert.deepInclude(yield* consume(request), { limit: 3, remaining: 2, isExceeded: false })
          assert.lengthOf(redis.commands, before + count)
        }
      }).pipe(Effect.provide(requestLimits(Redacted.make(redis.url)).pipe(Layer.provide(settings))))
    })
  )

  it.live("that hang are waited for once; then the process counts alone, and asks one request at a time again", () =>
    Effect.gen(function* () {
      const redis = yield* standInRedis
      yield* Effect.gen(function* () {
        const { consume } = yield* RateLimits
        yield* consume(request)
        redis.hangs = true
        const asked = evaluated(redis)
        const remaining: Array<number> = []
        for (let count = 0; count < 20; count++) remaining.push((yield* consume(request)).remaining)
        assert.strictEqual(evaluated(redis), asked + 1, "the first of twenty waited, the others did not ask")
        assert.deepStrictEqual(remaining.slice(0, 4), [2, 1, 0, 0], "the process counts by itself")
        assert.isTrue((yield* consume(request)).isExceeded)

        yield* Effect.sleep("5100 millis")
        yield* Effect.forEach(Array.from({ length: 20 }), () => consume(request), { concurrency: 20 })
        assert.strictEqual(evaluated(redis), asked + 2, "one of twenty at once tries again")
      }).pipe(Effect.provide(requestLimits(Redacted.make(redis.url)).pipe(Layer.provide(settings))))
    })
  )

  it.live("count again as soon as a try is answered", () =>
    Effect.gen(function* () {
      const redis = yield* standInRedis
      yield* Effect.gen(function* () {
        const { consume } = yield* RateLimits
        redis.hangs = true
        for (let count = 0; count < 4; count++) yield* consume(request)
        assert.isTrue((yield* consume(request)).isExceeded)
        yield* Effect.sleep("5100 millis")
        redis.resume()
        const answer = yield* Effect.repeat(Effect.delay(consume(request), "300 millis"), {
          until: ({ isExceeded }) => !isExceeded,
          times: 100
        })
        assert.isFalse(answer.isExceeded, "Redis knows nothing of what was counted alone")
      }).pipe(Effect.provide(requestLimits(Redacted.make(redis.url)).pipe(Layer.provide(settings))))
    })
  )

  it.live("that hang when the process starts do not hold it up; it counts alone, and in Redis once that answers", () =>
    Effect.gen(function* () {
      const redis = yield* standInRedis
      redis.hangs = true
      yield* Effect.gen(function* () {
        const { consume } = yield* RateLimits
        const alone = yield* Effect.forEach([1, 2, 3, 4], () => consume(request))
        assert.deepStrictEqual(
          alone.map(({ isExceeded }) => isExceeded),
          [false, false, false, true]
        )
        assert.strictEqual(evaluated(redis), 0)
        redis.resume()
        const another = Effect.suspend(() => consume(request))
        yield* Effect.repeat(Effect.delay(another, "50 millis"), { until: () => evaluated(redis) > 0 })
        assert.isFalse((yield* consume(request)).isExceeded)
      }).pipe(Effect.provide(requestLimits(Redacted.make(redis.url)).pipe(Layer.provide(settings))))
    })
  )

  it.live("that nobody serves when the process starts do not hold it up either", () =>
    Effect.gen(function* () {
      const { consume } = yield* RateLimits
      assert.strictEqual((yield* consume(request)).remaining, 2)
    }).pipe(Effect.provide(requestLimits(Redacted.make("redis://127.0.0.1:9")).pipe(Layer.provide(settings))))
  )
})
