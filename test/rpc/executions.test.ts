/**
 * Executions over both wires of procedures, for keys and wallet sessions; and one operation followed by every means at
 * once, which all answer the same.
 */
import { HttpAgent } from "@ag-ui/client"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Redacted, Schedule, Stream } from "effect"
import * as Errors from "#domain/errors/Errors.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { makeProcedures } from "#rpc/client.ts"
import { enroll, newOwner, newStrategy, newTenant, readOnlyKey } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { accepted, append, enter, streamPath, Streams } from "#test/api/support/StreamingApi.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

interface Credential {
  readonly key?: string
  readonly token?: string
}

const headersOf = ({ key, token }: Credential): Record<string, string> => ({
  ...(key === undefined ? {} : { "x-api-key": key }),
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
})

/** Calls a procedure on the interface's wire. */
const ask = Effect.fnUntraced(function* (procedure: string, input: unknown, credential: Credential) {
  const { json, status } = yield* (yield* Api).call("POST", `/v1/rpc/v2.executions.${procedure}`, {
    headers: headersOf(credential),
    body: { json: input }
  })
  return { status, data: json.result?.data.json, error: json.error?.json }
})

const baseUrl = Effect.map(Streams, ({ url }) => new URL(url("x")).origin)

const native = Effect.fnUntraced(function* (token: string) {
  return yield* makeProcedures({ baseUrl: yield* baseUrl, token: Redacted.make(token) })
})

const streamOf = (input: object) =>
  `/v1/rpc/v2.executions.stream?input=${encodeURIComponent(JSON.stringify({ json: input }))}`

type Contract = { readonly contract: { readonly code: string; readonly status: number } }
const refused = ({ error, status }: { readonly status: number; readonly error: any }, { contract }: Contract) =>
  assert.deepStrictEqual([status, error?.code], [contract.status, contract.code])

/** A portfolio of a wallet in somebody's tenant, with an accepted run. */
const owned = Effect.gen(function* () {
  const actor = yield* newTenant()
  const wallet = newOwner()
  const { portfolioId } = yield* enroll(actor, yield* newStrategy(actor))
  const body = yield* enrollAs(actor, wallet)
  const { call } = yield* Api
  const submitted = yield* call("POST", `/v2/portfolios/${body.portfolioId}/rebalance`, { key: actor.key })
  yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key: actor.key })
  return { ...actor, wallet, ...body, operationId: submitted.json.data.operationId as OperationId }
})

const enrollAs = Effect.fnUntraced(function* (actor: Effect.Success<ReturnType<typeof newTenant>>, wallet: string) {
  const { call } = yield* Api
  const strategyId = yield* newStrategy(actor)
  const request = { ownerAccountId: wallet, strategyId, chainIds: [8453, 42161] }
  const stage1 = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: request })
  const { accountIndex, agentAccountId, flowId } = stage1.json.data
  return yield* enroll(actor, strategyId, { ...request, accountIndex, agentAccountId, flowId })
})

layer(executionsApi(), { excludeTestServices: true })("executions", (it) => {
  it.effect("one operation is answered alike by polling, server-sent events, both RPC streams and AG-UI", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { open, openAt } = yield* Streams
      const client = yield* native(key)
      const sse = yield* open(operationId, { key, lastEventId: "0-0" })
      const wire = yield* openAt(streamOf({ operationId, lastEventId: "0-0" }), { key })
      const rpc = yield* Effect.forkScoped(
        Stream.runCollect(client("v2.executions.stream", { operationId, lastEventId: "0-0" }))
      )
      const agent = new HttpAgent({
        url: `${yield* baseUrl}/v1/ai/executions/${operationId}/ag-ui-stream`,
        headers: { "x-api-key": key, "last-event-id": "0-0" }
      })
      const received: Array<any> = []
      const run = yield* Effect.forkScoped(
        Effect.promise(() => agent.runAgent({}, { onEvent: ({ event }) => void received.push(event) }))
      )
      yield* enter(operationId, "running")
      yield* append(operationId, "chain_settled", { chainId: 8453, totalSteps: 2, message: "Chain 8453: done" })
      yield* append(operationId, "withdrawal_waits", { reason: "the chain does not answer" })
      yield* enter(operationId, "retrying")
      yield* enter(operationId, "completed")

      const frames = yield* Effect.promise(sse.rest)
      const events = frames.map(({ data }) => data)
      assert.deepStrictEqual(
        events.map(({ kind, sequence }) => `${sequence} ${kind.split(".")[1]}`),
        [
          "0 snapshot",
          "1 state_changed",
          "2 state_changed",
          "3 progress",
          "4 timeline_appended",
          "5 state_changed",
          "6 state_changed",
          "7 result"
        ]
      )
      // The snapshot says how the operation is when the stream begins, and each stream begins at another moment.
      const [, ...happened] = events
      const wired = yield* Effect.promise(wire.rest)
      assert.deepStrictEqual(
        wired.slice(1).map(({ data, event, id }) => ({ event, id, data: data.result.data.json })),
        frames.slice(1).map(({ data, event, id }) => ({ event, id, data }))
      )
      const [first, ...streamed] = yield* Fiber.join(rpc)
      assert.strictEqual(first!.kind, "execution.snapshot")
      assert.deepStrictEqual(JSON.parse(JSON.stringify(streamed)), happened)
      yield* Fiber.join(run)
      assert.deepStrictEqual(
        received.filter(({ type }) => type === "STATE_DELTA").map(({ rawEvent }) => rawEvent),
        happened
      )
      const polled: Array<any> = []
      for (let hasMore = true; hasMore;) {
        const page = yield* ask("detail", { operationId, afterSequence: polled.length, limit: 3 }, { key })
        polled.push(...page.data.timeline)
        hasMore = page.data.hasMore
      }
      assert.deepStrictEqual(
        polled.map(({ message: _, ...one }) => one),
        happened.map(({ kind, payload, sequence, ts }) => ({ sequence, ts, kind, payload }))
      )
      assert.isTrue(polled.every(({ message }) => message.length > 5))
      const end = yield* ask("result", { operationId }, { key })
      const { payload } = happened.at(-1)!
      assert.deepStrictEqual(end.data, { operationId, state: "completed", result: payload, error: null })
      assert.deepStrictEqual(agent.state.result, payload)
    })
  )

  it.effect("get, detail, result and list say how an operation is, by POST, GET and Effect's RPC alike", () =>
    Effect.gen(function* () {
      const { key, operationId, portfolioId } = yield* accepted
      const { call } = yield* Api
      yield* enter(operationId, "running")
      const client = yield* native(key)
      const { data } = yield* ask("get", { operationId }, { key })
      assert.deepInclude(data, { operationId, portfolioId, kind: "rebalance", state: "running", error: null })
      assert.match(data.refs.eventId, /^\d{13}-2$/)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(yield* client("v2.executions.get", { operationId }))), data)
      const input = encodeURIComponent(JSON.stringify({ json: { operationId } }))
      const got = yield* call("GET", `/v1/rpc/v2.executions.get?input=${input}`, { key })
      assert.deepStrictEqual(got.json.result.data.json, data)

      const before = yield* ask("result", { operationId }, { key })
      assert.deepStrictEqual(before.data, { operationId, state: "running", result: null, error: null })
      yield* enter(operationId, "failed", "the chain said no")
      const after = yield* ask("result", { operationId }, { key })
      const error = { code: "EXECUTION_FAILED", message: "the chain said no", retryable: true }
      assert.deepStrictEqual(after.data, { operationId, state: "failed", result: null, error })
      const detail = yield* ask("detail", { operationId }, { key })
      assert.deepInclude(detail.data, { state: "failed", hasMore: false, steps: [] })
      assert.deepStrictEqual(
        detail.data.timeline.map(({ message }: any) => message),
        ["The operation is accepted", "From accepted to running", "From running to failed", "the chain said no"]
      )
      assert.deepStrictEqual((yield* ask("detail", { operationId, afterSequence: 4 }, { key })).data.timeline, [])
      assert.deepStrictEqual((yield* ask("detail", { operationId, afterSequence: 99 }, { key })).data.timeline, [])
    })
  )

  it.effect("a session reads its wallet's portfolios in any tenant and its own tenant's, and lists them in pages", () =>
    Effect.gen(function* () {
      const one = yield* owned
      const owner = yield* signedIn(one.wallet)
      const member = yield* signedIn(newOwner(), one.tenantId)
      const stranger = yield* signedIn(newOwner())
      const { operationId, portfolioId } = one
      for (const { token } of [owner, member]) {
        const got = yield* ask("get", { operationId }, { token })
        assert.strictEqual(got.data?.portfolioId, portfolioId, JSON.stringify(got.error))
        const source = yield* (yield* Streams).open(operationId, { token })
        assert.strictEqual((yield* Effect.promise(source.nextEvent))?.event, "execution.snapshot")
        source.close()
      }
      for (const procedure of ["get", "detail", "result", "stream"])
        refused(yield* ask(procedure, { operationId }, { token: stranger.token }), Errors.NotFound)
      const list = (input: object, credential: Credential) =>
        Effect.map(ask("list", input, credential), ({ data }) => data as { executions: Array<any>; nextCursor: string })
      const ids = ({ executions }: { readonly executions: ReadonlyArray<any> }) =>
        executions.map((execution) => execution.operationId)
      assert.deepStrictEqual(ids(yield* list({}, { token: owner.token })), [operationId])
      assert.deepStrictEqual(ids(yield* list({}, { token: stranger.token })), [])
      const all = ids(yield* list({}, { key: one.key }))
      assert.lengthOf(all, 2)
      assert.deepStrictEqual(ids(yield* list({}, { token: member.token })), all)
      const first = yield* list({ limit: 1 }, { token: member.token })
      const second = yield* list({ limit: 1, cursor: first.nextCursor }, { token: member.token })
      assert.deepStrictEqual([...ids(first), ...ids(second)], all)
      assert.isNull(second.nextCursor)
      assert.deepStrictEqual(ids(yield* list({ portfolioId }, { key: one.key })), [operationId])
      assert.deepStrictEqual(ids(yield* list({ state: "completed" }, { key: one.key })), [])
      assert.deepStrictEqual(ids(yield* list({ kind: "rebalance" }, { token: owner.token })), [operationId])
      refused(yield* ask("list", { cursor: "x" }, { key: one.key }), Errors.CursorInvalid)
      // An owner who is a member besides sees each operation once.
      const both = yield* signedIn(one.wallet, one.tenantId)
      assert.deepStrictEqual(ids(yield* list({}, { token: both.token })), all)
    })
  )

  it.effect(
    "each is refused without a key or session, and with one that is not allowed; a stream begins or is refused",
    () =>
      Effect.gen(function* () {
        const { operationId, key, tenantId } = yield* accepted
        const { call } = yield* Api
        const { openAt } = yield* Streams
        const client = yield* native("bs_guess")
        for (const procedure of ["get", "detail", "result", "stream"]) {
          const input = { operationId }
          refused(yield* ask(procedure, input, {}), Errors.KeyMissing)
          refused(yield* ask(procedure, input, { key: "bk_live_nobody" }), Errors.KeyInvalid)
          refused(yield* ask(procedure, input, { token: "bs_guess" }), Errors.SessionInvalid)
          refused(yield* ask(procedure, { operationId: "op_1" }, { key }), Errors.ValidationFailed)
        }
        refused(yield* ask("list", {}, {}), Errors.KeyMissing)
        refused(yield* ask("list", { limit: 0 }, { key }), Errors.ValidationFailed)
        refused(yield* ask("stream", { operationId, lastEventId: "x" }, { key }), Errors.ValidationFailed)
        refused(yield* ask("stream", { operationId, lastEventId: "1-1" }, { key }), Errors.CursorInvalid)
        const failed = yield* Effect.flip(Stream.runDrain(client("v2.executions.stream", { operationId })))
        assert.strictEqual(failed._tag, "SessionInvalid")
        const reader = yield* readOnlyKey({ tenantId })
        assert.strictEqual((yield* ask("get", { operationId }, { token: reader })).status, 200)

        yield* enter(operationId, "failed", "the chain said no")
        const all = yield* Effect.promise((yield* openAt(streamOf({ operationId, lastEventId: "0-0" }), { key })).rest)
        assert.strictEqual(all.at(-1)?.event, "execution.error")
        // A browser that comes back says so in the header; its input is as it was.
        const again = yield* openAt(streamOf({ operationId, lastEventId: "0-0" }), { key, lastEventId: all[2]!.id! })
        assert.deepStrictEqual((yield* Effect.promise(again.rest)).slice(1), all.slice(3))
        const seen = yield* openAt(streamOf({ operationId, lastEventId: all.at(-1)!.id! }), { key })
        assert.strictEqual(seen.status, 204)
        assert.strictEqual((yield* call("GET", streamPath(operationId), { key })).status, 200)
      })
  )

  it.effect(
    "streams that are open over Effect's RPC leave room for other calls, and free their place when they go",
    () =>
      Effect.gen(function* () {
        const { key, operationId } = yield* accepted
        const client = yield* native(key)
        const follow = client("v2.executions.stream", { operationId })
        const followers = yield* Effect.forEach([1, 2, 3, 4], () =>
          Effect.gen(function* () {
            const begun = yield* Latch.make()
            const fiber = yield* Effect.forkScoped(Stream.runForEach(follow, () => begun.open))
            yield* begun.await
            return fiber
          })
        )
        const over = yield* Effect.flip(Stream.runDrain(follow))
        assert.strictEqual(over._tag, "RateLimited")
        assert.strictEqual((yield* client("v2.executions.get", { operationId })).state, "accepted")
        yield* Effect.forEach(followers, Fiber.interrupt)
        yield* enter(operationId, "failed", "the chain said no")
        const events = yield* Stream.runCollect(follow).pipe(Effect.retry(Schedule.spaced("20 millis")))
        assert.strictEqual(events.at(-1)?.kind, "execution.error")
      })
  )
})
