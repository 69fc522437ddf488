/**
 * Each procedure of clients asked about somebody else's objects, on each wire: by a person of another tenant, by
 * another owner of the same tenant, by another tenant's key, on both databases. The answer is that for an object which
 * does not exist, and nothing is changed. A procedure without a row in `procedureRows.ts` fails here.
 */
import { assert } from "@effect/vitest"
import { Context, DateTime, Effect, Redacted, Result, Schema, Stream } from "effect"
import { type Rpc, RpcSchema } from "effect/rpc"
import { createSiweMessage } from "viem/siwe"
import { WebSocket } from "ws"
import { contractOf, isDomainError } from "#domain/errors/DomainError.ts"
import * as Errors from "#domain/errors/Errors.ts"
import { IsAction } from "#rpc/actionProcedure.ts"
import { makeProcedures } from "#rpc/client.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { IsRead } from "#rpc/publicProcedure.ts"
import { newOwner } from "#test/api/support/actors.ts"
import { Api, ownOrigin } from "#test/api/support/Api.ts"
import { Streams } from "#test/api/support/StreamingApi.ts"
import { procedureRows } from "#test/api/access/support/procedureRows.ts"
import {
  aboutNothing,
  contents,
  exercised,
  fieldsOf,
  idsOf,
  namesObject,
  newAttacker,
  newVictim,
  withoutIds
} from "#test/api/access/support/victim.ts"
import { wholeApiOn } from "#test/api/access/support/wholeApi.ts"
import { onEachDatabase } from "#test/support/database.ts"

const procedures = [...(ClientProcedures.requests.values() as Iterable<Rpc.AnyWithProps>)]

const isStream = ({ successSchema }: Rpc.AnyWithProps) => RpcSchema.isStreamSchema(successSchema)

/** The fields of an input that name objects. */
const objectsOf = ({ payloadSchema }: Rpc.AnyWithProps) => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(payloadSchema)
  return [...new Set(fieldsOf(schema, definitions).filter(namesObject))]
}

interface Answered {
  readonly status: number
  readonly code: string | undefined
  readonly text: string
}

type Call = (procedure: Rpc.AnyWithProps, input: object, token: string) => Effect.Effect<Answered, never, Api | Streams>

const read = ({ json, status, text }: { readonly json: any; readonly status: number; readonly text: string }) => ({
  status,
  code: (json?.error?.json ?? json?.error)?.code as string | undefined,
  text
})

/** A stream that is not refused has no end: its status is all that is read of it. */
const opened = Effect.fnUntraced(function* (path: string, token: string) {
  const source = yield* (yield* Streams).openAt(path, { token })
  source.close()
  return source.status
}, Effect.scoped)

const byPost: Call = Effect.fnUntraced(function* ({ _tag, annotations }, input, token) {
  const { call } = yield* Api
  return read(
    yield* call("POST", `/v1/rpc/${_tag}`, {
      headers: { authorization: `Bearer ${token}` },
      body: Context.get(annotations, IsAction) ? { input } : { json: input }
    })
  )
})

const byGet: Call = Effect.fnUntraced(function* (procedure, input, token) {
  const { call } = yield* Api
  const path = `/v1/rpc/${procedure._tag}?input=${encodeURIComponent(JSON.stringify({ json: input }))}`
  if (isStream(procedure)) {
    const status = yield* opened(path, token)
    if (status < 400) return { status, code: undefined, text: "" }
  }
  return read(yield* call("GET", path, { headers: { authorization: `Bearer ${token}` } }))
})

const byRpc: Call = Effect.fnUntraced(function* (procedure, input, token) {
  const baseUrl = new URL((yield* Streams).url("x")).origin
  const client = (yield* makeProcedures({ baseUrl, token: Redacted.make(token) })) as unknown as (
    tag: string,
    payload: unknown
  ) => Effect.Effect<unknown, unknown>
  const codec: Schema.Top = Schema.toCodecJson(procedure.payloadSchema)
  const payload = Schema.decodeUnknownSync(codec as Schema.Decoder<unknown>)(input)
  const answer = client(procedure._tag, payload)
  const result = yield* Effect.result(
    isStream(procedure) ? Stream.runHead(answer as unknown as Stream.Stream<unknown, unknown>) : answer
  )
  if (Result.isSuccess(result)) return { status: 200, code: undefined, text: JSON.stringify(result.success) }
  const error = result.failure
  assert.isTrue(isDomainError(error), JSON.stringify(error))
  const { code, status } = contractOf(error as Parameters<typeof contractOf>[0])
  return { status, code, text: JSON.stringify(error) }
}, Effect.scoped)

/** Calls over a socket that the token opens; answers the first word, or how the socket was refused. */
const bySocket: Call = Effect.fnUntraced(function* ({ _tag: tag, payloadSchema }, input, token) {
  const address = `${new URL((yield* Streams).url("x")).origin.replace("http", "ws")}/v1/rpc`
  const payload = payloadSchema.ast._tag === "Void" ? null : input
  return yield* Effect.callback<Answered>((resume) => {
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } })
    socket.on("unexpected-response", (_, response) => {
      let text = ""
      response.on("data", (chunk) => (text += String(chunk)))
      response.on("end", () =>
        resume(Effect.succeed(read({ status: response.statusCode!, json: JSON.parse(text), text })))
      )
    })
    socket.on("open", () => socket.send(JSON.stringify({ _tag: "Request", id: "1", tag, payload, headers: [] })))
    socket.on("message", (data) => {
      socket.terminate()
      const message = [JSON.parse(String(data))].flat()[0]
      if (message._tag === "Chunk" || message.exit._tag === "Success")
        return resume(Effect.succeed({ status: 200, code: undefined, text: JSON.stringify(message) }))
      const { error } = message.exit.cause[0]
      const { code, status } = (
        Errors as unknown as Readonly<Record<string, { readonly contract: Errors.ErrorContract }>>
      )[error._tag]!.contract
      resume(Effect.succeed({ status, code, text: JSON.stringify(error) }))
    })
  })
})

onEachDatabase("objects of others over procedures", wholeApiOn, (it) => {
  it("every procedure has its row, and every row its procedure", () =>
    assert.sameMembers(
      procedures.map(({ _tag }) => _tag),
      Object.keys(procedureRows)
    ))

  it("a procedure that names no object is about the sender alone", () =>
    assert.deepStrictEqual(
      procedures
        .filter((procedure) => typeof procedureRows[procedure._tag] === "string" && objectsOf(procedure).length > 0)
        .map(({ _tag }) => _tag),
      ["identity.signIn"]
    ))

  for (const procedure of procedures) {
    const tag = procedure._tag
    const row = procedureRows[tag]
    if (row === undefined || typeof row === "string") continue
    const wires = {
      ...(isStream(procedure) ? {} : { post: byPost }),
      ...(Context.get(procedure.annotations, IsRead) ? { get: byGet } : {}),
      rpc: byRpc,
      socket: bySocket
    }

    it.effect(`${tag}: objects of somebody else are not there, and stay as they are`, () =>
      Effect.gen(function* () {
        const [victim, attacker] = [yield* newVictim, yield* newAttacker]
        const input = row.input(victim)
        const nothing = aboutNothing(input, [], victim.planHash)
        const covered = exercised(input, [])
        assert.deepStrictEqual(
          objectsOf(procedure).filter((name) => !covered.includes(name)),
          [],
          "fields that name objects, and are not tried"
        )
        const strangers = {
          "a person of another tenant": attacker.session.token,
          "another owner of the tenant": victim.neighbour.token,
          ...(row.takesKeys === true ? { "another tenant's key": attacker.key } : {})
        }
        const before = yield* contents
        for (const [wire, call] of Object.entries(wires)) {
          for (const [who, token] of Object.entries(strangers)) {
            const what = `${who}, by ${wire}`
            const foreign = yield* call(procedure, input, token)
            const unknown = yield* call(procedure, nothing, token)
            assert.deepStrictEqual(withoutIds(foreign), withoutIds(unknown), what)
            if (row.isFilter === true) {
              assert.strictEqual(foreign.status, 200, what)
              for (const id of idsOf(victim)) assert.notInclude(foreign.text, id, what)
            } else assert.include([400, 404], foreign.status, `${what}: ${foreign.text}`)
          }
          const nobody = yield* call(procedure, input, "bs_nobody")
          assert.strictEqual(nobody.code, Errors.SessionInvalid.contract.code, `nobody, by ${wire}`)
          if (row.takesKeys !== true) {
            const key = yield* call(procedure, input, victim.key)
            assert.strictEqual(key.code, Errors.SessionInvalid.contract.code, `the tenant's key, by ${wire}`)
          }
        }
        assert.deepStrictEqual(yield* contents, before)

        // The same request by whose the objects are: it is about something.
        const { token } = victim[row.whose]
        const call = isStream(procedure) ? byGet : byPost
        const answer = yield* call(procedure, input, token)
        if (row.answer === undefined) assert.strictEqual(answer.status, 200, answer.text)
        else assert.strictEqual(answer.code, row.answer.contract.code, answer.text)
        if (row.isFilter === true) assert.include(answer.text, victim.portfolioId)
      })
    )
  }

  it.effect("lists of keys and members have nothing of another tenant", () =>
    Effect.gen(function* () {
      const [victim, attacker] = [yield* newVictim, yield* newAttacker]
      for (const tag of ["apiKeys.list", "identity.members", "identity.session", "v2.portfolios.list"]) {
        const procedure = procedures.find(({ _tag }) => _tag === tag)!
        const answer = yield* byPost(procedure, {}, attacker.session.token)
        assert.strictEqual(answer.status, 200, answer.text)
        for (const id of idsOf(victim)) assert.notInclude(answer.text, id, tag)
      }
    })
  )

  it.effect("signing in for a tenant that the wallet is no member of is refused as for one that does not exist", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const victim = yield* newVictim
      const address = newOwner().split(":")[2] as `0x${string}`
      const signIn = Effect.fnUntraced(function* (tenantId: string) {
        const { json } = yield* call("POST", "/v1/rpc/identity.nonce", { body: {} })
        const message = createSiweMessage({
          address,
          version: "1",
          chainId: 1,
          domain: new URL(ownOrigin).host,
          uri: ownOrigin,
          issuedAt: DateTime.toDateUtc(yield* DateTime.now),
          nonce: json.result.data.json.nonce
        })
        return yield* call("POST", "/v1/rpc/identity.signIn", {
          headers: { origin: ownOrigin },
          body: { json: { message, signature: "0x00", tenantId } }
        })
      })
      const foreign = yield* signIn(victim.tenantId)
      const unknown = yield* signIn(aboutNothing(victim.tenantId, [], victim.planHash))
      assert.strictEqual(foreign.json.error.json.code, Errors.PermissionDenied.contract.code, foreign.text)
      assert.deepStrictEqual(withoutIds(foreign.json), withoutIds(unknown.json))
    })
  )
})
