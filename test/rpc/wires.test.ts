/** The two wires of public procedures: the interface's own, by POST and by GET, and Effect's RPC at `/v1/rpc`. */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { normalizeKey } from "#domain/listing/AssetKey.ts"
import { makeProcedures } from "#rpc/client.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { listening } from "#test/rpc/support/listening.ts"
import { callLimit, makeMarketApi, MarketApi } from "#test/rpc/support/MarketApi.ts"

/** The client that comes with the program, over a socket: what it asks for is what the server has. */
const nativeClient = Effect.gen(function* () {
  const { handle } = yield* MarketApi
  return yield* makeProcedures({ baseUrl: yield* listening(handle) })
})

layer(makeMarketApi({ coinGecko: "demo", massive: false, coinbase: false, xstocks: false }), {
  excludeTestServices: true
})("wires", (it) => {
  it.effect("POST takes {json: input} and answers {result: {data: {json: output}}}", () =>
    Effect.gen(function* () {
      const { call, refresh } = yield* MarketApi
      yield* refresh
      const { body, status } = yield* call("cryptoMarketData.getMarketQuotes", { coinIds: ["bitcoin"] })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(Object.keys(body), ["result"])
      assert.deepStrictEqual(Object.keys(body.result), ["data"])
      assert.deepStrictEqual(Object.keys(body.result.data), ["json"])
      assert.strictEqual(body.result.data.json.items[0].coinId, "bitcoin")
    })
  )

  it.effect("GET takes the same input in the query and answers the same", () =>
    Effect.gen(function* () {
      const { call, get, handle } = yield* MarketApi
      const input = { q: "weth %&+ü", chainFilter: [8453] }
      const [posted, got] = [yield* call("assets.searchForTokens", input), yield* get("assets.searchForTokens", input)]
      assert.strictEqual(got.status, 200)
      assert.deepStrictEqual(got.body, posted.body)
      const bare = yield* Effect.promise(() => handle(new Request("http://api.test/v1/rpc/assets.getStockHighlights")))
      assert.strictEqual(bare.status, 200)
    })
  )

  it.effect("a body may carry meta, leave json out where nothing is required, or be empty", () =>
    Effect.gen(function* () {
      const { call } = yield* MarketApi
      for (const text of ["", "{}", '{"json":{}}', '{"json":null}', '{"json":{"limit":3},"meta":{"values":{}}}'])
        assert.strictEqual((yield* call("cryptoMarketData.getTrending", text)).status, 200, text)
    })
  )

  it.effect("what is malformed is 400 with code, message and the fields, and never an echo of much", () =>
    Effect.gen(function* () {
      const { call, handle } = yield* MarketApi
      for (const text of ["{", "[]", "7", '"x"', '{"json":[]}', '{"json":"x"}']) {
        const { body, status } = yield* call("cryptoMarketData.getTrending", text)
        assert.strictEqual(status, 400, text)
        assert.strictEqual(body.error.json.code, "API_400")
        assert.isString(body.error.json.message)
      }
      const long = yield* call("cryptoMarketData.getMarketQuotes", {
        coinIds: Array.from({ length: 100 }, () => " ".repeat(500))
      })
      assert.strictEqual(long.status, 400)
      assert.isAtMost(long.body.error.json.details.length, 50)
      assert.isTrue(long.body.error.json.details.every((line: string) => line.length <= 303))
      const query = yield* Effect.promise(() =>
        handle(new Request("http://api.test/v1/rpc/cryptoMarketData.getTrending?input=%7B"))
      )
      assert.strictEqual(query.status, 400)
    })
  )

  it.effect("details of procedures speak in words, with an example and the order of an asset's parts", () =>
    Effect.gen(function* () {
      const { call } = yield* MarketApi
      const detailsOf = (procedure: string, input: unknown) =>
        Effect.map(call(procedure, input), ({ body, status, text }) => {
          assert.strictEqual(status, 400, text)
          return body.error.json.details as ReadonlyArray<string>
        })
      assert.deepStrictEqual(yield* detailsOf("cryptoMarketData.getMarketQuotes", { coinIds: ["bit coin", 7] }), [
        "coinIds.0: Expected the id of a coin at CoinGecko, such as bitcoin",
        'coinIds.1: Expected text, such as "bitcoin"'
      ])
      const address = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
      const [line] = yield* detailsOf("assets.getAssetDetails", { assetId: address })
      assert.include(line, "where the chain comes first: eip155:<chainId>/erc20:<address>")
      const spoilt = [
        ["assets.browseAssets", { issuerSlug: "A B", limit: 0, cursor: "x" }],
        ["assets.browseStocks", { issuerSlug: 7, filters: { cap: "mega", type: ["No"] } }],
        ["assets.searchForTokens", { q: "", manualCountryCode: "Germany", chainFilter: ["8453"] }],
        ["assets.getTimeSeries", { assetId: null, range: "5y" }],
        ["cryptoMarketData.getNews", { limit: 21 }]
      ] as const
      for (const [procedure, input] of spoilt) {
        const lines = yield* detailsOf(procedure, input)
        assert.isAbove(lines.length, 0)
        for (const one of lines) assert.notMatch(one, /RegExp|\^\[|\\d|<filter>|readonly|undefined| \| |=>|got /u, one)
      }
    })
  )

  it.effect("input that is not valid is API_400 with the same details by POST, by GET and over Effect's RPC", () =>
    Effect.gen(function* () {
      const { call, get, handle } = yield* MarketApi
      const native = (tag: string, payload: unknown) =>
        Effect.promise(async () => {
          const line = JSON.stringify({ _tag: "Request", id: "7", tag, payload, headers: [] })
          const response = await handle(
            new Request("http://api.test/v1/rpc", {
              method: "POST",
              headers: { "content-type": "application/ndjson" },
              body: `${line}\n`
            })
          )
          const lines = (await response.text()).trim().split("\n")
          assert.lengthOf(lines, 1)
          return JSON.parse(lines[0]!)
        })
      const spoilt = [
        ["cryptoMarketData.getMarketQuotes", { coinIds: ["bit coin", 7] }],
        ["cryptoMarketData.getMarketQuotes", {}],
        ["assets.searchForTokens", { q: "", manualCountryCode: "Germany", chainFilter: ["8453"] }],
        ["cryptoMarketData.getNews", { limit: 21 }]
      ] as const
      for (const [procedure, input] of spoilt) {
        const posted = yield* call(procedure, input)
        assert.strictEqual(posted.status, 400)
        const { code, details, message } = posted.body.error.json
        assert.strictEqual(code, "API_400")
        assert.isNotEmpty(details)
        const got = yield* get(procedure, input)
        assert.deepStrictEqual([got.status, got.body.error.json], [400, posted.body.error.json])
        const answer = yield* native(procedure, input)
        assert.deepStrictEqual([answer._tag, answer.requestId, answer.exit._tag], ["Exit", "7", "Failure"])
        assert.deepStrictEqual(answer.exit.cause, [
          { _tag: "Fail", error: { _tag: "ValidationFailed", message, details } }
        ])
      }
      const good = yield* native("cryptoMarketData.getTrending", { limit: 3 })
      assert.strictEqual(good.exit._tag, "Success")
    })
  )

  it.effect("procedures of the operator are not answered on GET, nor on the native wire", () =>
    Effect.gen(function* () {
      const { get, handle } = yield* MarketApi
      assert.strictEqual((yield* get("marketDataStream.adminStatus")).status, 404)
      const request = { _tag: "Request", id: "0", tag: "marketDataStream.adminStatus", payload: null, headers: [] }
      const answer = yield* Effect.promise(async () =>
        (
          await handle(
            new Request("http://api.test/v1/rpc", {
              method: "POST",
              headers: { "content-type": "application/ndjson" },
              body: `${JSON.stringify(request)}\n`
            })
          )
        ).text()
      )
      assert.notInclude(answer, "Success")
    })
  )

  it.effect("Effect's own RPC answers the same procedures, with typed values and typed errors", () =>
    Effect.gen(function* () {
      const { ask } = yield* MarketApi
      const client = yield* nativeClient
      const native = yield* client("assets.searchForTokens", { q: "weth", limit: 5 })
      const own = yield* ask("assets.searchForTokens", { q: "weth", limit: 5 })
      assert.deepStrictEqual(JSON.parse(JSON.stringify(native)), own)
      const nothingSent = yield* client("cryptoMarketData.getGlobal", undefined)
      assert.isTrue(nothingSent.configured)
      const absent = yield* Effect.result(
        client("assets.getAssetDetails", { assetId: normalizeKey(`0x${"11".repeat(20)}:1`)! })
      )
      assert.isTrue(Result.isFailure(absent))
      if (Result.isFailure(absent)) assert.strictEqual((absent.failure as { _tag: string })._tag, "NotFound")
    }).pipe(Effect.scoped)
  )

  it.effect("a request of Effect's RPC counts as many calls as it contains, and none runs beyond the limit", () =>
    Effect.gen(function* () {
      const { handle } = yield* MarketApi
      const clock = yield* MovableClock
      clock.advance(61_000)
      const send = (calls: number) =>
        Effect.promise(async () => {
          const line = (id: number) =>
            JSON.stringify({
              _tag: "Request",
              id: String(id),
              tag: "cryptoMarketData.getGlobal",
              payload: null,
              headers: []
            })
          const response = await handle(
            new Request("http://api.test/v1/rpc", {
              method: "POST",
              headers: { "content-type": "application/ndjson" },
              body: `${Array.from({ length: calls }, (_, id) => line(id)).join("\n")}\n`
            })
          )
          return { status: response.status, retry: response.headers.get("retry-after"), text: await response.text() }
        })
      const answered = ({ text }: { readonly text: string }) => text.split("\n").filter((line) => line.includes("Exit"))
      // The server counts the first of each request itself.
      assert.lengthOf(answered(yield* send(3)), 3)
      // Each of these has used up one less than it contains.
      for (let left = callLimit - 2; left > 0; left -= 99) {
        const within = yield* send(Math.min(99, left) + 1)
        assert.strictEqual(within.status, 200)
        assert.lengthOf(answered(within), Math.min(99, left) + 1)
      }
      const beyond = yield* send(2)
      assert.strictEqual(beyond.status, 429)
      assert.strictEqual(JSON.parse(beyond.text).error.json.code, "API_004")
      assert.isAtLeast(Number(beyond.retry), 1)
      clock.advance(61_000)
      assert.strictEqual((yield* send(2)).status, 200)
    })
  )
})
