/** Procedures ask who calls before they read what was sent, as routes do. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Rpc } from "effect/rpc"
import { AdminAccess } from "#rpc/AdminAccess.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { MarketDataStreamProcedures } from "#rpc/MarketDataStream.ts"
import { ExecutionAccess } from "#rpc/session/ExecutionAccess.ts"
import { PresentedAccess, SessionAccess } from "#rpc/session/SessionAccess.ts"
import { Api } from "#test/api/support/Api.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

const proceduresOf = (group: { readonly requests: ReadonlyMap<string, unknown> }) =>
  [...group.requests.values()] as ReadonlyArray<Rpc.AnyWithProps>

const needsCaller = ({ middlewares }: Rpc.AnyWithProps) =>
  [AdminAccess, ExecutionAccess, PresentedAccess, SessionAccess].some((access) =>
    (middlewares as ReadonlySet<unknown>).has(access)
  )

const protectedOnes = proceduresOf(ClientProcedures).filter(needsCaller)

layer(executionsApi(), { excludeTestServices: true })("a call of nobody whose input is not valid", (it) => {
  for (const { _tag: tag } of [...protectedOnes, ...proceduresOf(MarketDataStreamProcedures)])
    it.effect(`is 401 at ${tag}`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        for (const text of ['{"json":{"nope":1}}', '{"input":{"nope":1}}', '{"json":7}', "{", "[]", '{"nope":{}}']) {
          const { status, text: answered } = yield* call("POST", `/v1/rpc/${tag}`, { text })
          assert.strictEqual(status, 401, `${text}: ${answered}`)
        }
      })
    )

  for (const { _tag: tag } of protectedOnes)
    it.effect(`is refused for its sender over Effect's RPC at ${tag}`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const message = { _tag: "Request", id: "1", tag, payload: { nope: 1 }, headers: [] }
        const headers = { "content-type": "application/x-ndjson" }
        const { text } = yield* call("POST", "/v1/rpc", { text: `${JSON.stringify(message)}\n`, headers })
        assert.include(["KeyMissing", "SessionInvalid"], JSON.parse(text).exit.cause[0].error._tag)
      })
    )
})
