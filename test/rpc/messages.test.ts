/** Requests of Effect's RPC over HTTP with several messages: all are in order and answered, or none is carried out. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeMarketApi, MarketApi } from "#test/rpc/support/MarketApi.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const access = { coinGecko: "demo", massive: false, coinbase: false, xstocks: false } as const

const message = (id: number, tag: string, payload: unknown = null) =>
  JSON.stringify({ _tag: "Request", id: String(id), tag, payload, headers: [] })

const messages = (count: number, tag: string, payload?: unknown) =>
  Array.from({ length: count }, (_, id) => `${message(id, tag, payload)}\n`).join("")

const send = Effect.fnUntraced(function* (body: string) {
  const { handle } = yield* MarketApi
  ;(yield* MovableClock).advance(61_000)
  return yield* Effect.promise(async () => {
    const headers = { "content-type": "application/x-ndjson" }
    const response = await handle(new Request("http://api.test/v1/rpc", { method: "POST", headers, body }))
    const text = await response.text()
    return {
      status: response.status,
      text,
      lines:
        text === ""
          ? []
          : text
              .trim()
              .split("\n")
              .map((l) => JSON.parse(l))
    }
  })
})

/** The exits of a request, by the ids of its calls. */
const exitsOf = ({ lines }: { readonly lines: ReadonlyArray<any> }) =>
  new Map(lines.map(({ exit, requestId }) => [requestId, exit]))

layer(makeMarketApi(access), { excludeTestServices: true })("a request of many calls", (it) => {
  for (const [what, tag, payload, tags] of [
    ["whose input is not valid", "cryptoMarketData.getMarketQuotes", {}, ["Failure", "Fail"]],
    ["of procedures that are none", "cryptoMarketData.nope", null, ["Failure", "Die"]],
    ["that are in order", "cryptoMarketData.getGlobal", null, ["Success", undefined]]
  ] as const)
    for (const count of [1, 16, 17, 18, 100])
      it.effect(`answers ${count} calls ${what}`, () =>
        Effect.gen(function* () {
          const answer = yield* send(messages(count, tag, payload))
          assert.strictEqual(answer.status, 200)
          const exits = exitsOf(answer)
          assert.sameMembers(
            [...exits.keys()],
            Array.from({ length: count }, (_, id) => String(id))
          )
          for (const exit of exits.values()) assert.deepStrictEqual([exit._tag, exit.cause?.[0]._tag], [...tags])
        })
      )

  it.effect("answers calls of every kind among each other, and a last line that does not end", () =>
    Effect.gen(function* () {
      const kinds = ["cryptoMarketData.nope", "cryptoMarketData.getGlobal", "cryptoMarketData.getMarketQuotes"] as const
      const body = Array.from({ length: 99 }, (_, id) => message(id, kinds[id % 3]!, null)).join("\n")
      const exits = exitsOf(yield* send(body))
      assert.strictEqual(exits.size, 99)
      assert.strictEqual(exits.get("97")._tag, "Success")
    })
  )

  it.effect("is refused with 400 where it has more calls than one may have, and none runs", () =>
    Effect.gen(function* () {
      const { lines, status } = yield* send(messages(101, "cryptoMarketData.getGlobal"))
      assert.strictEqual(status, 400)
      assert.deepStrictEqual(lines[0].error.json.details, ["body: has 101 calls"])
    })
  )

  for (const [what, line, detail] of [
    ["no JSON", "{", "expected a message"],
    ["a list", "[]", "expected a message"],
    ["null", "null", "expected a message"],
    ["another kind of message", { _tag: "Eof" }, '_tag: expected "Request"'],
    ["no name of a procedure", { tag: undefined }, "tag: "],
    ["no id", { id: undefined }, "id: "],
    ["an id of another call", { id: "0" }, "id: expected one that no other"],
    ["no headers", { headers: undefined }, "headers: expected a list of pairs"],
    ["headers that are null", { headers: null }, "headers: expected a list of pairs"],
    ["headers that are text", { headers: "origin" }, "headers: expected a list of pairs"],
    ["headers that are an object", { headers: { a: "b" } }, "headers: expected a list of pairs"],
    ["headers that are no pairs", { headers: ["a", "b"] }, "headers: expected a list of pairs"],
    ["a header without text", { headers: [["last-event-id", 7]] }, "headers: expected a list of pairs"],
    ["a header that is too long", { headers: [["last-event-id", "1".repeat(513)]] }, "headers: expected values"]
  ] as const)
    it.effect(`is refused with 400 and the line where one of its messages has ${what}`, () =>
      Effect.gen(function* () {
        const first = message(0, "cryptoMarketData.getGlobal")
        const second = typeof line === "string" ? line : JSON.stringify({ ...JSON.parse(message(1, "x")), ...line })
        const { lines, status } = yield* send(`${first}\n${second}\n`)
        assert.strictEqual(status, 400)
        assert.strictEqual(lines[0].error.json.code, "API_400")
        assert.include(lines[0].error.json.details[0], `line 2: ${detail}`)
      })
    )
})

layer(makeMarketApi(access), { excludeTestServices: true })("input of procedures", (it) => {
  it.effect("with a field that the procedure does not have is refused on both wires, in it and around it", () =>
    Effect.gen(function* () {
      const { call, get } = yield* MarketApi
      for (const [procedure, input, field] of [
        ["cryptoMarketData.getTrending", { limit: 3, Limit: 4 }, "Limit"],
        ["cryptoMarketData.getGlobal", { limit: 3 }, "limit"],
        ["assets.browseStocks", { exposureSlug: "x", filters: { kind: ["a"] } }, "filters.kind"]
      ] as const) {
        const posted = yield* call(procedure, input)
        assert.strictEqual(posted.status, 400, posted.text)
        const { details, message: said } = posted.body.error.json
        assert.include(details.join("\n"), `${field}: is not a field here`)
        assert.deepStrictEqual((yield* get(procedure, input)).body, posted.body)
        const [line] = (yield* send(`${message(1, procedure, input)}\n`)).lines
        assert.deepStrictEqual(line.exit.cause[0].error, { _tag: "ValidationFailed", message: said, details })
      }
      for (const text of ['{"jsn":{}}', '{"json":{},"input":{}}', '{"input":{}}'])
        assert.strictEqual((yield* call("cryptoMarketData.getTrending", text)).status, 400, text)
    })
  )
})
