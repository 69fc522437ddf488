/**
 * What docs/client.md says of `EventSource` is so: its program runs here with the package of that name, a session in a
 * cookie, and connections that break.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Latch } from "effect"
import { EventSource } from "eventsource"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, request as forward } from "node:http"
import { type AddressInfo } from "node:net"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { enroll, newOwner, newStrategy, newTenant, prepare } from "#test/api/support/actors.ts"
import { Api, ownOrigin } from "#test/api/support/Api.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { enter, Streams, streamingApi } from "#test/api/support/StreamingApi.ts"
import type { OperationId } from "#domain/values/Ids.ts"

interface Followed {
  readonly event: (kind: string, event: unknown) => void
  readonly closed: () => void
}
type Watch = (operationId: string, on: Followed) => EventSource

const page = readFileSync(join(import.meta.dirname, "../../docs/client.md"), "utf8")
const section = page.slice(page.indexOf("\n## EventSource\n"))
const program = /^```ts\n([\s\S]*?)^```$/mu.exec(section)![1]!

/** The program as a page has it, at another address and with the cookie of a browser. */
const watchAt = (origin: string, cookie: string): Watch => {
  class OfPage extends EventSource {
    constructor(url: string, init: { readonly withCredentials?: boolean }) {
      super(url, {
        ...init,
        fetch: (asked, { headers, ...options }) =>
          fetch(asked, {
            ...options,
            headers: { ...headers, origin: ownOrigin, ...(init.withCredentials === true ? { cookie } : {}) }
          })
      })
    }
  }
  const code = stripTypeScriptTypes(program).replace("export const watch", "const watch")
  const make = new Function("EventSource", `${code.replace("https://api.ballast.example", origin)}\nreturn watch`)
  return make(OfPage)
}

/** Passes requests on, and cuts all that are open on request. */
const proxy = (origin: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      let asked = 0
      const server = createServer((incoming, outgoing) => {
        asked += 1
        const sent = forward(`${origin}${incoming.url}`, { headers: incoming.headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(outgoing)
        })
        outgoing.on("close", () => sent.destroy())
        sent.on("error", () => outgoing.destroy())
        sent.end()
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      const { port } = server.address() as AddressInfo
      return { server, url: `http://127.0.0.1:${port}`, asked: () => asked }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

/** A run of a person who signed in. */
const followable = Effect.gen(function* () {
  const { call } = yield* Api
  const actor = yield* newTenant()
  const wallet = newOwner()
  const strategyId = yield* newStrategy(actor)
  const { portfolioId } = yield* enroll(actor, strategyId, yield* prepare(actor, strategyId, wallet))
  const submitted = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key: actor.key })
  const { token } = yield* signedIn(wallet)
  return { token, operationId: submitted.json.data.operationId as OperationId }
})

layer(streamingApi(), { excludeTestServices: true })("EventSource as docs/client.md has it", (it) => {
  it.effect("goes on over a connection that breaks, is given each event once, and closes after the last one", () =>
    Effect.gen(function* () {
      const { operationId, token } = yield* followable
      const origin = new URL((yield* Streams).url("x")).origin
      const between = yield* proxy(origin)
      const seen: Array<string> = []
      const [began, running, closed] = [yield* Latch.make(), yield* Latch.make(), yield* Latch.make()]
      const source = watchAt(between.url, `__Host-ballast_session=${token}`)(operationId, {
        event: (kind, event) => {
          const { to } = (event as { readonly payload: { readonly to?: string } }).payload
          seen.push(to === undefined ? kind : `${kind} ${to}`)
          began.openUnsafe()
          if (to === "running") running.openUnsafe()
        },
        closed: () => closed.openUnsafe()
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => source.close()))
      yield* began.await
      between.server.closeAllConnections()
      yield* enter(operationId, "running")
      yield* running.await
      assert.isAbove(between.asked(), 1)
      yield* enter(operationId, "completed")
      yield* closed.await
      assert.strictEqual(source.readyState, source.CLOSED)
      assert.strictEqual(seen.at(-1), "result")
      assert.strictEqual(new Set(seen).size, seen.length, seen.join())
    }).pipe(Effect.scoped)
  )

  it.effect("is closed by a refusal, of which a page sees no more", () =>
    Effect.gen(function* () {
      const { operationId } = yield* followable
      const origin = new URL((yield* Streams).url("x")).origin
      const closed = yield* Latch.make()
      const source = watchAt(origin, "__Host-ballast_session=bs_nobody")(operationId, {
        event: () => assert.fail("nobody is told of it"),
        closed: () => closed.openUnsafe()
      })
      yield* closed.await
      assert.strictEqual(source.readyState, source.CLOSED)
    })
  )
})
