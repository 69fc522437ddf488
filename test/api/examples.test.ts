/**
 * The example of every request is sent to the running service, and succeeds. Ids that the service draws, and what a
 * wallet signs, cannot be known to a document: those alone are exchanged for those of the test.
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as Day from "#domain/values/Day.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"
import { OpenApi } from "effect/http-api"
import { content } from "#layers/catalogue/content.ts"
import { CatalogueStore } from "#layers/sql/asset/CatalogueStore.ts"
import { enroll, newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { endpoints } from "#test/api/support/endpoints.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { enrolled, setBalance, signedBody } from "#test/api/support/withdrawing.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const documents: any = { ...(OpenApi.fromApi(V2).paths as any), ...(OpenApi.fromApi(V1).paths as any) }

/** Requests that cannot succeed as they stand, each with the reason. */
const unsent: Readonly<Record<string, string>> = {
  "GET /v1/executions/{operationId}/stream": "an answer that goes on until the operation ends: executions.test.ts",
  "GET /v1/ai/executions/{operationId}/ag-ui-stream": "an answer that goes on until the operation ends: agUi.test.ts",
  "POST /v1/ai/executions/{operationId}/ag-ui-stream": "an answer that goes on until the operation ends: agUi.test.ts",
  "GET /v2/events/stream": "an answer that does not end: events.test.ts"
}

/** The example with the ids and the signed parts of this test in it; everything else stays as the document has it. */
const World = Effect.gen(function* () {
  yield* (yield* CatalogueStore).load(content)
  const { call } = yield* Api
  const environment = yield* TestEnvironment
  environment.prices = new Map([
    [baseUsdc.assetId, 10n ** 18n],
    [baseWeth.assetId, 2_500n * 10n ** 18n]
  ])
  const since = Day.parse("2025-03-03")!
  const past = Array.from({ length: 100 }, (_, day) => ({ day: Day.add(since, day), usd: 10n ** 18n }))
  const now = yield* DateTime.now
  yield* (yield* DailyPriceStore).recordHistory({
    assetId: baseUsdc.assetId,
    prices: past,
    completeThrough: Day.of(now),
    at: now
  })
  const user = yield* enrolled()
  yield* setBalance(user.base, baseUsdc.assetId, 9_000_000_000n)
  const { key, portfolioId, strategyId } = user
  const started = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
  const webhook = yield* call("POST", "/v2/webhooks", { key, body: { url: "https://hooks.example.com/ballast" } })
  const ids: Readonly<Record<string, string>> = {
    "01JQ8ZKX4V6T3M9N2C5B7D8F0G": strategyId,
    pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8: portfolioId,
    op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1: started.json.data.operationId,
    wh_01JQ8ZQ7A9C1E3G5J7K9M1N3P5: webhook.json.data.webhookId
  }
  const named = <A>(value: A): A =>
    value === undefined
      ? value
      : JSON.parse(Object.entries(ids).reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(value)))
  return { call, key, named, user }
})

/** What only stage 1 of this test can give: the rest of the body is the example's. */
const signedParts = Effect.fnUntraced(function* (
  route: string,
  body: any,
  { call, key, user }: Effect.Success<typeof World>
) {
  switch (route) {
    case "POST /v2/enroll": {
      const strategyId = yield* newStrategy(user)
      const { accountType, chainIds, ownerAccountId } = body
      const stage1 = yield* call("POST", "/v2/enroll/signature", {
        key,
        body: { accountType, chainIds, ownerAccountId, strategyId }
      })
      const { accountIndex, agentAccountId, flowId } = stage1.json.data
      return { ...body, strategyId, accountIndex, agentAccountId, flowId, signature: ownerSignature }
    }
    case "POST /v2/portfolios/{portfolioId}/withdraw":
      return yield* signedBody(user, { assets: body.message.assets })
    case "POST /v2/portfolios/{portfolioId}/liquidate-all":
      return yield* signedBody(user, {}, "liquidate-all")
    case "POST /v2/portfolios/{portfolioId}/resign": {
      const { chainIds } = body
      const path = `/v2/portfolios/${user.portfolioId}/resign/signature`
      const stage1 = yield* call("POST", path, { key, body: { chainIds } })
      const { accountIndex, agentAccountId, flowId } = stage1.json.data
      return { ...body, accountIndex, agentAccountId, flowId, signature: ownerSignature }
    }
    case "POST /v2/portfolios/{portfolioId}/revoke": {
      const stage1 = yield* call("POST", `/v2/portfolios/${user.portfolioId}/revoke/signature`, { key, body: {} })
      return { ...body, flowId: stage1.json.data.flowId, signature: ownerSignature }
    }
    case "POST /v2/portfolios/{portfolioId}/rebalance": {
      const preview = yield* call("POST", `/v2/portfolios/${user.portfolioId}/rebalance/preview`, { key })
      return { ...body, planHash: preview.json.data.planHash }
    }
    case "POST /v1/portfolio/{portfolioId}/resubmit-signature": {
      const issued = yield* call("POST", `/v1/portfolio/${user.portfolioId}/resign`, { key, body: {} })
      return { ...body, signatureAction: issued.json.data.signatureAction, signature: ownerSignature }
    }
    default:
      return body
  }
})

layer(ApiLive, { excludeTestServices: true })("examples of requests", (it) => {
  for (const { body, method, path, route } of endpoints) {
    if (route in unsent) continue
    it.effect(`${route} succeeds`, () =>
      Effect.gen(function* () {
        const world = yield* World
        // A portfolio on both chains has nothing to activate: this one begins on Base.
        if (route.includes("{portfolioId}/chains")) return yield* activate(route, body)
        if (route.endsWith("/mirror-terms")) return yield* mirrorTerms(method, body)
        const sent = yield* signedParts(route, world.named(body), world)
        const place = route.endsWith("/execute/status/{executionId}") ? yield* executed(world) : world.named(path)
        const answer = yield* world.call(method, place, { key: world.key, body: sent })
        assert.match(String(answer.status), /^20[0-2]$/u, `${answer.text} to ${JSON.stringify(sent)}`)
        if (route === "POST /v2/assets/allocation-breakdown") {
          const { example } =
            documents["/v2/assets/allocation-breakdown"].post.responses["200"].content["application/json"]
          assert.deepStrictEqual(answer.json, example)
        }
      })
    )
  }

  it("what is not sent is a route", () => {
    const routes = endpoints.map(({ route }) => route)
    for (const route of Object.keys(unsent)) assert.include(routes, route)
  })
})

/** The status of an execution of this test: its id is an operation's, of a kind of its own. */
const executed = Effect.fnUntraced(function* ({ call, key, user }: Effect.Success<typeof World>) {
  const path = `/portfolio/${user.portfolioId}/execute`
  const example = endpoints.find(({ route }) => route === "POST /portfolio/{portfolioId}/execute")
  const { executionId } = (yield* call("POST", path, { key, body: example?.body })).json.data
  return `${path}/status/${executionId}`
})

const activate = Effect.fnUntraced(function* (route: string, example: any) {
  const { call } = yield* Api
  const { key, ...actor } = yield* newTenant()
  const strategyId = yield* newStrategy({ key, ...actor })
  const draft = { ownerAccountId: "eip155:0:0x52908400098527886E0F7030069857D2E4169EE7", strategyId, chainIds: [8453] }
  const stage1 = yield* call("POST", "/v2/enroll/signature", { key, body: draft })
  const { accountIndex, agentAccountId, flowId } = stage1.json.data
  const body = { ...draft, accountIndex, agentAccountId, flowId, signature: ownerSignature }
  const { portfolioId } = (yield* call("POST", "/v2/enroll", { key, body })).json.data
  const path = `/v2/portfolios/${portfolioId}/chains`
  const { chainIds } = example
  const prepared = yield* call("POST", `${path}/signature`, { key, body: { chainIds } })
  assert.strictEqual(prepared.status, 200, prepared.text)
  if (route.endsWith("/signature")) return
  const issued = prepared.json.data
  const sent = {
    ...example,
    accountIndex: issued.accountIndex,
    agentAccountId: issued.agentAccountId,
    flowId: issued.flowId,
    signature: ownerSignature
  }
  const answer = yield* call("POST", path, { key, body: sent })
  assert.strictEqual(answer.status, 200, answer.text)
})

/** Makes a strategy of another tenant, whose creator offers what the example says. */
const mirrorTerms = Effect.fnUntraced(function* (method: string, example: any) {
  const { call } = yield* Api
  const [creator, tenant] = [yield* newTenant(), yield* newTenant()]
  const strategyId = yield* newStrategy(creator, { isPublic: true, ...example })
  yield* enroll(tenant, strategyId)
  const answer = yield* call(method, `/v2/strategies/${strategyId}/mirror-terms`, { key: tenant.key, body: example })
  assert.strictEqual(answer.status, 200, answer.text)
})
