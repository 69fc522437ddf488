import { assert, describe, it } from "@effect/vitest"
import { spanName } from "#http/serving/spanNames.ts"

describe("spanName", () => {
  for (const [method, url, name] of [
    ["GET", "/v2/whoami", "GET /v2/whoami"],
    ["GET", "/v2/strategies?limit=2", "GET /v2/strategies"],
    ["GET", "/v2/portfolios/pf_1/operations/op_1", "GET /v2/portfolios/{portfolioId}/operations/{operationId}"],
    ["POST", "/v2/portfolios/pf_1/start", "POST /v2/portfolios/{portfolioId}/start"],
    ["DELETE", "/v1/admin/tenants/tn_1/keys/key_1", "DELETE /v1/admin/tenants/{tenantId}/keys/{apiKeyId}"],
    ["GET", "/health/ready", "GET /health/ready"],
    ["GET", "/v2/strategies/x/y/z", "GET unmatched"]
  ] as const) {
    it(`${method} ${url}`, () => assert.strictEqual(spanName(method, url), name))
  }
})
