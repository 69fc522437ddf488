/** External ids and metadata of strategies and portfolios: docs/decisions/0200-external-ids-and-metadata.md. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ExternalIdTaken, ValidationFailed } from "#domain/errors/Errors.ts"
import {
  type Actor,
  enroll,
  fillCatalogue,
  newStrategy,
  newTenant,
  prepare,
  strategyBody
} from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"

const sixteen = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, "v"]))

const idsOf = (answer: { readonly json: any }): ReadonlyArray<string> => {
  const { portfolios, strategies } = answer.json.data
  return (portfolios ?? strategies).map((item: any) => item.portfolioId ?? item.strategyId)
}

/** The two kinds, with one way to make, read, change and list each. */
const kinds = [
  {
    kind: "strategy",
    path: "/v2/strategies",
    make: (actor: Actor, labels: object) => newStrategy(actor, { ...labels })
  },
  {
    kind: "portfolio",
    path: "/v2/portfolios",
    make: (actor: Actor, labels: object) =>
      Effect.gen(function* () {
        const strategyId = yield* newStrategy(actor)
        return (yield* enroll(actor, strategyId, { ...labels })).portfolioId
      })
  }
] as const

layer(ApiLive, { excludeTestServices: true })("labels", (it) => {
  for (const { kind, make, path } of kinds) {
    it.effect(`a ${kind} has the external id and the metadata that it was made with, everywhere it is answered`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const labels = { externalId: "customer-4711", metadata: { plan: "gold", note: "Ünï: code" } }
        const id = yield* make(actor, labels)
        const read = yield* call("GET", `${path}/${id}`, { key: actor.key })
        const listed = yield* call("GET", path, { key: actor.key })
        const renamed = yield* call("PATCH", `${path}/${id}`, { key: actor.key, body: {} })
        const [item] = (listed.json.data.portfolios ?? listed.json.data.strategies) as ReadonlyArray<any>
        for (const shown of [read.json.data, item, renamed.json.data]) {
          assert.strictEqual(shown.externalId, labels.externalId)
          assert.deepStrictEqual(shown.metadata, labels.metadata)
        }
      })
    )

    it.effect(`a ${kind} without labels shows none`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const id = yield* make(actor, {})
        const { json } = yield* call("GET", `${path}/${id}`, { key: actor.key })
        assert.notProperty(json.data, "externalId")
        assert.notProperty(json.data, "metadata")
      })
    )

    it.effect(`labels of a ${kind} are merged by a patch, and cleared by null`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const id = yield* make(actor, { externalId: "a", metadata: { one: "1", two: "2" } })
        const patch = (body: object) => call("PATCH", `${path}/${id}`, { key: actor.key, body })
        const first = yield* patch({ metadata: { two: null, three: "3" } })
        assert.deepStrictEqual(first.json.data.metadata, { one: "1", three: "3" })
        assert.strictEqual(first.json.data.externalId, "a")
        const second = yield* patch({ externalId: "b" })
        assert.strictEqual(second.json.data.externalId, "b")
        assert.deepStrictEqual(second.json.data.metadata, { one: "1", three: "3" })
        const third = yield* patch({ externalId: null, metadata: null })
        assert.notProperty(third.json.data, "externalId")
        assert.notProperty(third.json.data, "metadata")
        assert.deepStrictEqual(idsOf(yield* call("GET", `${path}?metadata=one:1`, { key: actor.key })), [])
      })
    )

    it.effect(`an external id is one ${kind}'s of a tenant: 409 names the other, and nothing is changed`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const first = yield* make(actor, { externalId: "same" })
        const second = yield* make(actor, {})
        const refused = yield* call("PATCH", `${path}/${second}`, {
          key: actor.key,
          body: { externalId: "same", metadata: { a: "b" } }
        })
        assertError(refused, ExternalIdTaken, `externalId: used by ${kind} ${first}`)
        const { json } = yield* call("GET", `${path}/${second}`, { key: actor.key })
        assert.notProperty(json.data, "metadata")
        // One's own is kept, another tenant's does not count, and what was given up is free.
        assert.strictEqual(
          (yield* call("PATCH", `${path}/${first}`, { key: actor.key, body: { externalId: "same" } })).status,
          200
        )
        yield* make(yield* newTenant(), { externalId: "same" })
        yield* call("PATCH", `${path}/${first}`, { key: actor.key, body: { externalId: null } })
        const taken = yield* call("PATCH", `${path}/${second}`, { key: actor.key, body: { externalId: "same" } })
        assert.strictEqual(taken.status, 200, taken.text)
      })
    )

    it.effect(`of many that give one external id to a ${kind} at once, one does`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const ids = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => make(actor, {}))
        const answers = yield* Effect.forEach(
          ids,
          (id) => call("PATCH", `${path}/${id}`, { key: actor.key, body: { externalId: "raced" } }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409])
        const won = ids[answers.findIndex(({ status }) => status === 200)]!
        assert.deepStrictEqual(idsOf(yield* call("GET", `${path}?externalId=raced`, { key: actor.key })), [won])
      })
    )

    it.effect(`a list of them is narrowed by a pair of metadata, in pages without gaps: ${kind}`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const gold: Array<string> = []
        for (const plan of ["gold", "free", "gold", "gold", "free", "gold"]) {
          const id = yield* make(actor, { metadata: { plan, other: "x" } })
          if (plan === "gold") gold.unshift(id)
        }
        yield* make(yield* newTenant(), { metadata: { plan: "gold" } })
        const seen: Array<string> = []
        let cursor: string | null = ""
        while (cursor !== null) {
          const page: any = yield* call(
            "GET",
            `${path}?metadata=plan:gold&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
            { key: actor.key }
          )
          assert.strictEqual(page.status, 200, page.text)
          seen.push(...idsOf(page))
          cursor = page.json.nextCursor
        }
        assert.deepStrictEqual(seen, gold)
        const both = yield* call("GET", `${path}?metadata=plan:gold&externalId=none`, { key: actor.key })
        assert.deepStrictEqual(idsOf(both), [])
      })
    )

    it.effect(`a ${kind} has at most 16 keys, whatever is merged`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const id = yield* make(actor, { metadata: sixteen })
        const patch = (metadata: object) => call("PATCH", `${path}/${id}`, { key: actor.key, body: { metadata } })
        assertError(yield* patch({ another: "v" }), ValidationFailed, "metadata: at most 16 keys")
        const swapped = yield* patch({ another: "v", k0: null })
        assert.strictEqual(Object.keys(swapped.json.data.metadata).length, 16)
      })
    )
  }

  const bad: ReadonlyArray<readonly [what: string, body: object, detail: string]> = [
    ["an empty external id", { externalId: "" }, "externalId: "],
    ["an external id with a space", { externalId: "a b" }, "externalId: "],
    ["an external id of 129", { externalId: "x".repeat(129) }, "externalId: "],
    ["17 keys", { metadata: { ...sixteen, more: "v" } }, "metadata: "],
    ["a key with a colon", { metadata: { "a:b": "v" } }, "metadata: Expected keys"],
    ["a key of 41", { metadata: { ["x".repeat(41)]: "v" } }, "metadata: Expected keys"],
    ["a number as a value", { metadata: { a: 1 } }, "metadata.a: "],
    ["a value of 501", { metadata: { a: "x".repeat(501) } }, "metadata.a: "],
    ["a value with a NUL", { metadata: { a: "\u0000" } }, "metadata.a: "],
    ["metadata that is a list", { metadata: ["a"] }, "metadata: "]
  ]

  for (const [what, body, detail] of bad) {
    it.effect(`${what} is refused at creation, at the enrollment and in a patch`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* fillCatalogue
        const actor = yield* newTenant()
        const { key } = actor
        assertError(
          yield* call("POST", "/v2/strategies", { key, body: { ...strategyBody, ...body } }),
          ValidationFailed,
          detail
        )
        const strategyId = yield* newStrategy(actor)
        assertError(yield* call("PATCH", `/v2/strategies/${strategyId}`, { key, body }), ValidationFailed, detail)
        const stage2 = yield* prepare(actor, strategyId)
        assertError(yield* call("POST", "/v2/enroll", { key, body: { ...stage2, ...body } }), ValidationFailed, detail)
      })
    )
  }

  it.effect("a filter that is no pair is refused", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      for (const path of ["/v2/strategies", "/v2/portfolios"])
        assertError(yield* call("GET", `${path}?metadata=plan`, { key }), ValidationFailed, "metadata: ")
    })
  )

  it.effect(
    "an external id that is used refuses a new strategy, and an enrollment that may come again with another",
    () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const { key } = actor
        const strategyId = yield* newStrategy(actor, { externalId: "s" })
        const again = yield* call("POST", "/v2/strategies", { key, body: { ...strategyBody, externalId: "s" } })
        assertError(again, ExternalIdTaken, `externalId: used by strategy ${strategyId}`)
        const { portfolioId } = yield* enroll(actor, strategyId, { externalId: "p" })
        const stage2 = yield* prepare(actor, strategyId)
        const refused = yield* call("POST", "/v2/enroll", { key, body: { ...stage2, externalId: "p" } })
        assertError(refused, ExternalIdTaken, `externalId: used by portfolio ${portfolioId}`)
        const body = { ...stage2, externalId: "p2", metadata: { b: "2", a: "1" } }
        const enrolled = yield* call("POST", "/v2/enroll", { key, body })
        assert.strictEqual(enrolled.status, 201, enrolled.text)
        assert.strictEqual(enrolled.json.data.externalId, "p2")
        // The same meaning replays; other labels are another body.
        const replay = yield* call("POST", "/v2/enroll", { key, body: { ...body, metadata: { a: "1", b: "2" } } })
        assert.deepStrictEqual(replay.json.data.portfolioId, enrolled.json.data.portfolioId)
        assert.strictEqual((yield* call("POST", "/v2/enroll", { key, body: stage2 })).status, 409)
      })
  )

  it.effect("another tenant that reads a public strategy does not see the labels of its creator", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const strategyId = yield* newStrategy(yield* newTenant(), {
        isPublic: true,
        externalId: "secret-customer",
        metadata: { plan: "gold" }
      })
      const { text } = yield* call("GET", `/v2/strategies/${strategyId}`, { key: (yield* newTenant()).key })
      assert.include(text, strategyId)
      assert.notInclude(text, "secret-customer")
      assert.notInclude(text, "gold")
    })
  )
})
