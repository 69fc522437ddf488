/**
 * Each route of v2 and v1, and each tool, asked about the objects of one tenant with the key of another, and with
 * wallets' sessions: the answer is that for an object which does not exist, and nothing is changed. A route without a
 * row in `routeRows.ts` fails here.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { templateOf } from "#http/templateOf.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"
import { type Answer, Api } from "#test/api/support/Api.ts"
import { Streams } from "#test/api/support/StreamingApi.ts"
import { type Asked, type Row, routeRows } from "#test/api/access/support/routeRows.ts"
import {
  aboutNothing,
  contents,
  exercised,
  fieldsOf,
  idsOf,
  namesObject,
  newAttacker,
  newVictim,
  type Victim,
  withoutIds
} from "#test/api/access/support/victim.ts"
import { wholeApi } from "#test/api/access/support/wholeApi.ts"

interface Route {
  readonly route: string
  readonly method: string
  readonly template: string
  /** The operation's id, by which a tool is called. */
  readonly tool: string | undefined
  /** The fields of its path, query and body that name objects. */
  readonly objects: ReadonlyArray<string>
}

const isStream = (operation: any) =>
  Object.values<any>(operation.responses).some(({ content }) => content?.["text/event-stream"] !== undefined)

const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  hasTools: boolean
): ReadonlyArray<Route> => {
  const document: any = OpenApi.fromApi(api)
  const found: Array<Route> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const template = templateOf(endpoint.path)
      const operation = document.paths[template][endpoint.method.toLowerCase()]
      const body = Object.values<any>(operation.requestBody?.content ?? {})[0]?.schema
      const fields = [
        ...operation.parameters.map(({ name }: any) => name as string),
        ...fieldsOf(body, document.components.schemas)
      ]
      found.push({
        route: `${endpoint.method} ${template}`,
        method: endpoint.method,
        template,
        tool: hasTools && !isStream(operation) ? operation.operationId : undefined,
        objects: [...new Set(fields.filter(namesObject))].sort()
      })
    }
  })
  return found
}

const routes = [...routesOf(V2, true), ...routesOf(V1, false)]

interface Credential {
  readonly key?: string
  readonly token?: string
}

/** What a list must be asked with. */
const required: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "GET /v2/discovery/strategies": { collection: "curated" }
}

const urlOf = (template: string, { path, query = {} }: Asked) => {
  const filled = Object.entries(path).reduce((url, [name, value]) => url.replace(`{${name}}`, value), template)
  const search = new URLSearchParams(query)
  return search.size === 0 ? filled : `${filled}?${search}`
}

const send = Effect.fnUntraced(function* ({ method, template }: Route, asked: Asked, { key, token }: Credential) {
  const { call } = yield* Api
  return yield* call(method, urlOf(template, asked), {
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    ...(asked.body === undefined ? {} : { body: asked.body })
  })
})

/** The status of an answer that does not end. */
const opened = Effect.fnUntraced(function* ({ method, template }: Route, asked: Asked, key: string) {
  const origin = new URL((yield* Streams).url("x")).origin
  const { body } = asked
  return yield* Effect.promise(async (signal) => {
    const response = await fetch(`${origin}${urlOf(template, asked)}`, {
      method,
      headers: { "x-api-key": key, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal
    })
    await response.body?.cancel()
    return response.status
  })
})

/** Calls a route by its tool; answers what its route answered. */
const useTool = Effect.fnUntraced(function* (tool: string, { body, path, query }: Asked, key: string) {
  const { call } = yield* Api
  const { json, text } = yield* call("POST", "/mcp", {
    key,
    headers: { accept: "application/json, text/event-stream" },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: tool, arguments: { ...path, ...query, ...(body === undefined ? {} : { body }) } }
    }
  })
  const message = json ?? JSON.parse(/^data: (.*)$/mu.exec(text)![1]!)
  const { _meta, content } = message.result
  return {
    status: _meta["ballast/status"] as number,
    json: JSON.parse(content[0].text),
    text: content[0].text as string
  }
})

const said = ({ json, status }: Pick<Answer, "json" | "status">) => {
  const { code, details, message } = json?.error ?? {}
  return status < 400 ? { status, body: json } : { status, code, details, message }
}

/** Nothing of the victim is in an answer, but for what the sender sent. */
const assertEmpty = (answer: Pick<Answer, "status" | "text">, victim: Victim, what: string) => {
  if (answer.status >= 400) return
  for (const id of idsOf(victim)) assert.notInclude(answer.text, id, what)
}

/** Answers like the one to ids that nobody has. */
const assertUnknown = (
  [foreign, unknown]: readonly [Pick<Answer, "json" | "status" | "text">, Pick<Answer, "json" | "status">],
  { isFilter }: Pick<Row, "isFilter">,
  { victim, what }: { readonly victim: Victim; readonly what: string }
) => {
  assert.deepStrictEqual(withoutIds(said(foreign)), withoutIds(said(unknown)), what)
  if (isFilter === true) assert.strictEqual(foreign.status, 200, `${what}: ${foreign.text}`)
  else assert.include([400, 404, 409], foreign.status, `${what}: ${foreign.text}`)
  assertEmpty(foreign, victim, what)
}

const askOf = Effect.fnUntraced(function* (
  ask: Row["asks"][number],
  victim: Victim,
  attacker: Effect.Success<typeof newAttacker>
) {
  const asked = ask(victim, attacker)
  return Effect.isEffect(asked) ? yield* asked : asked
})

layer(wholeApi, { excludeTestServices: true })("objects of others over routes and tools", (it) => {
  it("every route has its row, and every row its route", () =>
    assert.sameMembers(
      routes.map(({ route }) => route),
      Object.keys(routeRows)
    ))

  it("a route that names no object is about the sender's tenant alone", () =>
    assert.deepStrictEqual(
      routes.filter(({ objects, route }) => routeRows[route] === "own" && objects.length > 0).map(({ route }) => route),
      []
    ))

  for (const route of routes) {
    const row = routeRows[route.route]
    if (row === undefined) continue

    if (row === "own") {
      if (route.method !== "GET" || route.route.endsWith("/stream")) continue
      it.effect(`${route.route}: has nothing of another tenant`, () =>
        Effect.gen(function* () {
          const [victim, attacker] = [yield* newVictim, yield* newAttacker]
          const answer = yield* send(route, { path: {}, query: required[route.route] ?? {} }, attacker)
          assert.strictEqual(answer.status, 200, answer.text)
          // A strategy that may be mirrored is for everybody.
          assertEmpty({ ...answer, text: answer.text.replaceAll(victim.mirroredId, "") }, victim, route.route)
        })
      )
      continue
    }

    it.effect(`${route.route}: objects of another tenant are not there, and stay as they are`, () =>
      Effect.gen(function* () {
        const [victim, attacker] = [yield* newVictim, yield* newAttacker]
        const own = [attacker.portfolioId, attacker.strategyId]
        const asks = yield* Effect.forEach(row.asks, (ask) => askOf(ask, victim, attacker))
        const covered = new Set(asks.flatMap((asked) => exercised(asked, own)))
        assert.deepStrictEqual(
          route.objects.filter((name) => !covered.has(name)),
          [],
          "fields that name objects, and are not tried"
        )
        const before = yield* contents

        for (const [index, asked] of asks.entries()) {
          const nothing = aboutNothing(asked, own, victim.planHash)
          const what = `request ${index} with another tenant's key`
          const pair = [yield* send(route, asked, attacker), yield* send(route, nothing, attacker)] as const
          assertUnknown(pair, row, { victim, what })
          if (route.tool !== undefined) {
            const { tool } = route
            const used = [
              yield* useTool(tool, asked, attacker.key),
              yield* useTool(tool, nothing, attacker.key)
            ] as const
            assertUnknown(used, row, { victim, what: `${what}, as a tool` })
            assert.deepStrictEqual(withoutIds(said(used[0])), withoutIds(said(pair[0])))
          }
          for (const { token } of [attacker.session, victim.neighbour]) {
            const answer = yield* send(route, asked, { token })
            if (row.takesSessions === true)
              assertUnknown([answer, yield* send(route, nothing, { token })], row, { victim, what: "with a session" })
            else assert.strictEqual(answer.status, 401, "sessions are no keys")
          }
        }
        assert.deepStrictEqual(yield* contents, before)

        // The same request by whose the objects are: it is about something.
        const last = asks.at(-1)!
        if (row.isStream === true) {
          assert.strictEqual(yield* opened(route, last, victim.key), 200)
          return
        }
        const answer = yield* send(route, last, victim)
        if (row.answer === undefined) assert.isBelow(answer.status, 400, answer.text)
        else assert.strictEqual(answer.json.error.code, row.answer.contract.code, answer.text)
        if (row.isFilter === true && route.route !== "GET /v2/requests") assert.include(answer.text, victim.portfolioId)
      })
    )
  }

  it.effect("GET /v2/events/stream: begins with the tenant's own events", () =>
    Effect.gen(function* () {
      const victim = yield* newVictim
      const attacker = yield* newAttacker
      const { openAt } = yield* Streams
      const path = "/v2/events/stream"
      const source = yield* openAt(path, { key: attacker.key, lastEventId: "0" })
      const event = yield* Effect.promise(source.nextEvent)
      const text = JSON.stringify(event)
      assert.include(text, attacker.strategyId)
      for (const id of idsOf(victim)) assert.notInclude(text, id)
      source.close()
    })
  )
})
