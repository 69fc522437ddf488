import { createServer, type Server, type ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { RemoteClock } from "#layers/clock/RemoteClock.ts"
import { freePort } from "#sandbox/process/freePort.ts"
import { sleepRealTime } from "#layers/clock/withinRealTime.ts"

const hour = 3_600_000

/** A clock of the test: its own time, long polls, and a count of who asked for what. */
class ClockServer {
  now = Date.UTC(2026, 0, 1)
  version = 1
  readonly requests: Array<string> = []
  readonly #waiting = new Set<ServerResponse>()
  #server: Server | undefined
  port = 0

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.requests.push(request.url!)
      const after = new URL(request.url!, "http://clock").searchParams.get("after")
      if (after === null || Number(after) < this.version) this.#answer(response)
      else this.#waiting.add(response)
    })
    if (this.port === 0) this.port = await Effect.runPromise(freePort)
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve))
    this.#server = server
  }

  async stop(): Promise<void> {
    this.#server!.closeAllConnections()
    this.#waiting.clear()
    await new Promise((resolve) => this.#server!.close(resolve))
  }

  set(now: number): void {
    this.now = now
    this.version += 1
    for (const response of this.#waiting) this.#answer(response)
    this.#waiting.clear()
  }

  #answer(response: ServerResponse): void {
    response.setHeader("content-type", "application/json").end(JSON.stringify({ now: this.now, version: this.version }))
  }
}

const withServer = <A, E>(body: (server: ClockServer) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.promise(async () => {
      const server = new ClockServer()
      await server.start()
      return server
    }),
    (server) =>
      body(server).pipe(
        Effect.provide(RemoteClock.layer({ url: `http://127.0.0.1:${server.port}/clock`, followerId: "test" })),
        Effect.timeoutOrElse({ duration: "10 days", orElse: () => Effect.die("the test hangs") })
      ),
    (server) => Effect.promise(() => server.stop())
  )

const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    condition() ? Effect.void : Effect.andThen(sleepRealTime(Duration.millis(5)), until(condition))
  )

const isPolling = (server: ClockServer) => () =>
  server.requests.some((url) => url.includes(`after=${server.version}&id=test`))

describe("RemoteClock", () => {
  it.live("takes over the remote time and runs on from it", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const first = yield* Clock.currentTimeMillis
        assert.isAtLeast(first, server.now)
        assert.isBelow(first, server.now + 60_000)
        yield* Effect.sleep("30 millis")
        assert.isAtLeast(yield* Clock.currentTimeMillis, first + 30)
      })
    )
  )

  it.live("an advance wakes who slept less than that, at once, and nobody else", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const woken: Array<string> = []
        const sleeper = (name: string, millis: number) =>
          Effect.forkChild(
            Effect.andThen(
              Effect.sleep(millis),
              Effect.sync(() => woken.push(name))
            ),
            { startImmediately: true }
          )
        const ten = yield* sleeper("10 h", 10 * hour)
        const thirty = yield* sleeper("30 h", 30 * hour)
        const five = yield* sleeper("5 h", 5 * hour)
        yield* until(isPolling(server))
        const before = yield* Clock.currentTimeMillis
        server.set(server.now + 24 * hour)
        yield* Fiber.join(ten)
        yield* Fiber.join(five)
        assert.deepStrictEqual(woken, ["5 h", "10 h"])
        assert.isAtLeast((yield* Clock.currentTimeMillis) - before, 23 * hour)
        yield* until(isPolling(server))
        server.set(server.now + 24 * hour)
        yield* Fiber.join(thirty)
        assert.deepStrictEqual(woken, ["5 h", "10 h", "30 h"])
      })
    )
  )

  it.live("stands still instead of going back", () =>
    withServer((server) =>
      Effect.gen(function* () {
        yield* until(isPolling(server))
        const before = yield* Clock.currentTimeNanos
        const asked = server.requests.length
        server.set(server.now - hour)
        yield* until(() => server.requests.length > asked)
        const after = yield* Clock.currentTimeNanos
        assert.isTrue(after >= before)
        assert.isBelow(Number(after - before), 5e9)
      })
    )
  )

  it.live("keeps its time while the server is away, and follows again afterwards", () =>
    withServer((server) =>
      Effect.gen(function* () {
        yield* until(isPolling(server))
        const before = yield* Clock.currentTimeMillis
        yield* Effect.promise(() => server.stop())
        yield* Effect.sleep("120 millis")
        assert.isAtLeast(yield* Clock.currentTimeMillis, before + 120)
        const sleeping = yield* Effect.forkChild(Effect.sleep(hour))
        server.set(server.now + 2 * hour)
        yield* Effect.promise(() => server.start())
        yield* Fiber.join(sleeping)
        assert.isAtLeast((yield* Clock.currentTimeMillis) - before, hour)
      })
    )
  )
})
