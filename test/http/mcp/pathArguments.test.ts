/** Arguments of tools that stand in a path name one thing below it, and go nowhere else. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type ApiTool, requestOf } from "#http/mcp/toolsOf.ts"

const tool: ApiTool = {
  name: "getPortfolio",
  title: "",
  description: "",
  method: "GET",
  path: "/v2/portfolios/{portfolioId}/operations/{operationId}",
  scope: "portfolios:read",
  parameters: [
    { in: "path", name: "portfolioId" },
    { in: "path", name: "operationId" }
  ],
  hasBody: false,
  inputSchema: { type: "object" },
  annotations: { title: "", readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
}

const asked = (portfolioId: unknown, operationId: unknown = "op") => requestOf(tool, { portfolioId, operationId })

describe("an argument in a path", () => {
  for (const value of ["..", ".", "", "a/b", "/", "../../v1/admin", "..\\..", "a\\b", "a\u0000b", "a\nb", "a\ud800"])
    it(`is not ${JSON.stringify(value)}`, () => {
      const [first, second] = [asked(value), asked("pf", value)]
      assert.isTrue(Result.isFailure(first) && first.failure.startsWith("portfolioId: "))
      assert.isTrue(Result.isFailure(second) && second.failure.startsWith("operationId: "))
    })

  it("is written so that the path has as many segments as its template, whatever it is", () => {
    for (const value of [
      "pf_1",
      "...",
      "..a",
      "%2e%2e",
      "%2E%2E%2F",
      "a b",
      "$&",
      "$1",
      "?x=1",
      "#x",
      "é",
      ";x",
      "{operationId}",
      7
    ]) {
      const requested = asked(value)
      assert.isTrue(Result.isSuccess(requested), String(value))
      if (Result.isFailure(requested)) continue
      const { hash, pathname, search } = new URL(requested.success.url, "http://mcp.internal")
      const segments = pathname.split("/")
      assert.deepStrictEqual([segments.length, segments[1], segments[2], segments[5]], [6, "v2", "portfolios", "op"])
      assert.strictEqual(decodeURIComponent(segments[3]!), String(value))
      assert.deepStrictEqual([hash, search], ["", ""])
    }
  })
})
