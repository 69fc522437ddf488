/** Jupiter's limits and refusals, as its API answers them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const serving = (answer: Answer, requestsPerSecond = 1_000) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const made = createServer((request, response) => answer(response, request))
          await new Promise<void>((ready) => made.listen(0, "127.0.0.1", ready))
          return made
        }),
        (made) =>
          Effect.sync(() => {
            made.closeAllConnections()
            made.close()
          })
      )
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return JupiterClient.layer({ baseUrl, apiKey: Redacted.make("a-key"), requestsPerSecond })
    })
  )

interface Refusal {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const refuse = (response: ServerResponse, { body, headers = {}, status }: Refusal) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(JSON.stringify(body))
}

const mint = "So11111111111111111111111111111111111111112"
const build = Effect.flatMap(JupiterClient, (jupiter) =>
  Effect.flip(
    jupiter.build({ inputMint: mint, outputMint: mint, taker: mint, amountRaw: 1n, slippageBps: 0, maxAccounts: 54 })
  )
)

describe("Jupiter's API", () => {
  it.live("is asked for wrapped SOL alone, with the key", () => {
    const asked: Array<readonly [string, unknown]> = []
    return Effect.gen(function* () {
      yield* build
      const [url, key] = asked[0]!
      const query = new URL(url, "http://127.0.0.1").searchParams
      assert.strictEqual(query.get("wrapAndUnwrapSol"), "false")
      assert.strictEqual(query.get("maxAccounts"), "54")
      assert.strictEqual(key, "a-key")
    }).pipe(
      Effect.provide(
        serving((response, { headers, url }) => {
          asked.push([url!, headers["x-api-key"]])
          refuse(response, { status: 400, body: {} })
        })
      )
    )
  })

  it.live("says in its refusals why, and that reaches whoever asked", () =>
    Effect.gen(function* () {
      const { reason } = yield* build
      assert.include(reason, "COULD_NOT_FIND_ANY_ROUTE")
      assert.include(reason, "Could not find any route")
    }).pipe(
      Effect.provide(
        serving((response) =>
          refuse(response, {
            status: 400,
            body: { error: "Could not find any route", errorCode: "COULD_NOT_FIND_ANY_ROUTE" }
          })
        )
      )
    )
  )

  const now = 1_790_000_000
  it.effect.each([
    ["retry-after", "30"],
    ["x-ratelimit-reset", String(now + 30)]
  ] as const)("is left alone after a 429 for as long as %s says", ([header, value]) => {
    let requests = 0
    return Effect.gen(function* () {
      yield* TestClock.setTime(now * 1_000)
      yield* build
      assert.match((yield* build).reason, /the next request goes out in 30 s/)
      yield* TestClock.adjust("29 seconds")
      yield* build
      assert.strictEqual(requests, 1)
      yield* TestClock.adjust("1 seconds")
      yield* build
      assert.strictEqual(requests, 2)
    }).pipe(
      Effect.provide(
        serving((response) => {
          requests += 1
          refuse(response, { status: 429, body: { error: "Too many requests" }, headers: { [header]: value } })
        })
      )
    )
  })

  it.live("gets no more requests than its plan allows: one whose turn is more than a minute away fails", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Effect.all([Effect.exit(build), Effect.result(build)], { concurrency: 2 })
      assert.isTrue(Exit.isSuccess(first))
      assert.match(JSON.stringify(second), /more requests than 0.01 a second/)
    }).pipe(Effect.provide(serving((response) => refuse(response, { status: 400, body: {} }), 0.01)))
  )
})
