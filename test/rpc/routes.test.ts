/** Procedures are routes like all others: named in spans, and a wrong method is not taken for a wrong path. */
import { assert, describe, it } from "@effect/vitest"
import { addRoute, methodsOf } from "#http/serving/routeTable.ts"
import { spanName } from "#http/serving/spanNames.ts"
import { procedureRoutes } from "#rpc/Procedures.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"

for (const [method, path] of procedureRoutes) addRoute(method, path)

describe("procedures in the table of routes", () => {
  it("all reads have GET and POST", () => {
    const reads = [...ClientProcedures.requests.keys()].filter((name) =>
      /^(?:assets|cryptoMarketData|v2\.executions)\./u.test(name)
    )
    assert.lengthOf(reads, 23)
    for (const name of reads) {
      assert.deepStrictEqual(methodsOf(`/v1/rpc/${name}?input=x`), ["GET", "HEAD", "POST"], name)
      assert.strictEqual(spanName("GET", `/v1/rpc/${name}?input=x`), `GET /v1/rpc/${name}`)
    }
  })

  it("other procedures have POST alone, the native wire also GET, for sockets; what is none has nothing", () => {
    for (const path of ["/v1/rpc/marketDataStream.adminStatus", "/v1/rpc/identity.signIn"])
      assert.deepStrictEqual(methodsOf(path), ["POST"], path)
    assert.deepStrictEqual(methodsOf("/v1/rpc"), ["GET", "HEAD", "POST"])
    assert.deepStrictEqual(methodsOf("/v1/rpc/assets.noSuch"), [])
    assert.strictEqual(spanName("POST", "/v1/rpc/assets.noSuch"), "POST unmatched")
  })
})
