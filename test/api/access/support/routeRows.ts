/**
 * Rows that say of each route of v2 and v1 what it is asked about a foreign tenant's objects, in requests that their
 * own tenant may send. `own`: the route names no object, so it answers about the sender's tenant alone.
 */
import { Effect } from "effect"
import * as Errors from "#domain/errors/Errors.ts"
import { newOwner, prepare } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { ownerSignature, serviceContract } from "#test/api/support/TestEnvironment.ts"
import { recipientOn, request, signedBody } from "#test/api/support/withdrawing.ts"
import type { Attacker, Victim } from "#test/api/access/support/victim.ts"

export interface Asked {
  readonly path: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

type Ask = (victim: Victim, attacker: Attacker) => Asked | Effect.Effect<Asked, never, Api>

export interface Row {
  /** Each is sent by itself. The last is also sent by the victim. */
  readonly asks: readonly [Ask, ...ReadonlyArray<Ask>]
  /** What the victim is answered; any success when left out. */
  readonly answer?: { readonly contract: { readonly code: string } }
  /** An id that narrows a list: the foreign one is answered with an empty list. */
  readonly isFilter?: true
  /** Wallet sessions are taken too. */
  readonly takesSessions?: true
  /** The answer does not end. */
  readonly isStream?: true
}

const row = (...asks: Row["asks"]): Row => ({ asks })

const ofStrategy =
  (body?: unknown): Ask =>
  ({ strategyId }) => ({ path: { strategyId }, body })
const ofPortfolio =
  (body?: unknown): Ask =>
  ({ portfolioId }) => ({ path: { portfolioId }, body })
const ofWebhook: Ask = ({ webhookId }) => ({ path: { webhookId } })
const filtered = (...queries: readonly [(victim: Victim) => Record<string, string>, ...Array<any>]): Row => ({
  asks: queries.map((query) => (victim: Victim) => ({ path: {}, query: query(victim) })) as unknown as Row["asks"],
  isFilter: true
})

/** One's own portfolio, and in the body what was made for another's. */
const inOwn =
  (ask: Ask): Ask =>
  (victim, attacker) => {
    const asked = ask(victim, attacker)
    const inOwnPortfolio = (one: Asked) => ({ ...one, path: { ...one.path, portfolioId: attacker.portfolioId } })
    return Effect.isEffect(asked) ? Effect.map(asked, inOwnPortfolio) : inOwnPortfolio(asked)
  }

const stage1 = Effect.fnUntraced(function* (
  { key, portfolioId }: Pick<Victim, "key" | "portfolioId">,
  route: string,
  chainIds?: ReadonlyArray<number>
) {
  const path = `/v2/portfolios/${portfolioId}/${route}/signature`
  const { json } = yield* (yield* Api).call("POST", path, { key, body: chainIds === undefined ? {} : { chainIds } })
  const { accountIndex, agentAccountId, flowId } = json.data
  const chains = chainIds === undefined ? {} : { accountIndex, agentAccountId, chainIds }
  return { path: { portfolioId }, body: { ...chains, flowId, signature: ownerSignature } }
})

/** Another portfolio of the victim, on one chain. */
const onBase = Effect.fnUntraced(function* ({ key, strategyId }: Victim) {
  const { call } = yield* Api
  const draft = { ownerAccountId: newOwner(), strategyId, chainIds: [8453] }
  const { accountIndex, agentAccountId, flowId } = (yield* call("POST", "/v2/enroll/signature", { key, body: draft }))
    .json.data
  const body = { ...draft, accountIndex, agentAccountId, flowId, signature: ownerSignature }
  const { portfolioId } = (yield* call("POST", "/v2/enroll", { key, body })).json.data
  return { key, portfolioId: portfolioId as string }
})

const chains: Ask = (victim) => Effect.flatMap(onBase(victim), (one) => stage1(one, "chains", [42161]))
const resign: Ask = (victim) => stage1(victim, "resign", [8453, 42161])
const revoke: Ask = (victim) => stage1(victim, "revoke")

const withdrawal =
  (route: "withdraw" | "liquidate-all"): Ask =>
  (victim) =>
    Effect.map(signedBody(victim, {}, route), (body) => ({ path: { portfolioId: victim.portfolioId }, body }))

const legacyConsent: Ask = Effect.fnUntraced(function* ({ key, portfolioId }: Victim) {
  const { json } = yield* (yield* Api).call("POST", `/v1/portfolio/${portfolioId}/resign`, { key, body: {} })
  return { path: { portfolioId }, body: { signature: ownerSignature, signatureAction: json.data.signatureAction } }
})

const ofOperation: Ask = ({ operationId, portfolioId }) => ({ path: { portfolioId, operationId } })
const calls = { chainId: "8453", params: { calls: { to: serviceContract, data: "0x095ea7b3", value: "0" } } }
const ofExecution: Ask = Effect.fnUntraced(function* ({ key, portfolioId }: Victim) {
  const { json } = yield* (yield* Api).call("POST", `/portfolio/${portfolioId}/execute`, { key, body: calls })
  return { path: { portfolioId, executionId: json.data.executionId as string } }
})

const version = {
  allocation: { assets: [{ assetId: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", weight: "100" }] }
}
const offered: Ask = Effect.fnUntraced(function* ({ key, mirroredId }: Victim) {
  const { json } = yield* (yield* Api).call("GET", `/v2/strategies/${mirroredId}/mirror-terms`, { key })
  return { path: { strategyId: mirroredId }, body: json.data.offered }
})

const ofV2: Readonly<Record<string, Row | "own">> = {
  "GET /v2/whoami": "own",
  "GET /v2/scopes": "own",
  "GET /v2/chains": "own",
  "GET /v2/assets": "own",
  "POST /v2/assets/allocation-breakdown": "own",
  "GET /v2/discovery/strategies": "own",
  "GET /v2/tenant/preferences": "own",
  "PATCH /v2/tenant/preferences": "own",
  "GET /v2/tenant/fees": "own",
  "PATCH /v2/tenant/fees": "own",
  "GET /v2/events": "own",
  "GET /v2/events/stream": "own",

  "GET /v2/strategies": "own",
  "POST /v2/strategies": "own",
  "POST /v2/strategies/validate": "own",
  "POST /v2/strategies/backtest": "own",
  "GET /v2/strategies/{strategyId}": row(ofStrategy()),
  "PATCH /v2/strategies/{strategyId}": row(ofStrategy({ name: "Taken" })),
  "DELETE /v2/strategies/{strategyId}": row(ofStrategy()),
  "POST /v2/strategies/{strategyId}/restore": row(ofStrategy()),
  "GET /v2/strategies/{strategyId}/versions": row(ofStrategy()),
  "POST /v2/strategies/{strategyId}/versions": row(ofStrategy(version)),
  "GET /v2/strategies/{strategyId}/schedule": row(ofStrategy()),
  "PUT /v2/strategies/{strategyId}/schedule": row(ofStrategy({ type: "interval", frequency: "monthly" })),
  "GET /v2/strategies/{strategyId}/preferences": row(ofStrategy()),
  "PATCH /v2/strategies/{strategyId}/preferences": row(ofStrategy({ swap: { slippageBps: 1000 } })),
  "GET /v2/strategies/{strategyId}/fees": row(ofStrategy()),
  "PATCH /v2/strategies/{strategyId}/fees": row(ofStrategy({ swapBps: 100 })),
  "GET /v2/strategies/{strategyId}/performance": row(ofStrategy()),
  "GET /v2/strategies/{strategyId}/mirror-terms": row(({ mirroredId }) => ({ path: { strategyId: mirroredId } })),
  "PUT /v2/strategies/{strategyId}/mirror-terms": row(offered),

  "POST /v2/enroll/signature": row(({ strategyId }) => ({
    path: {},
    body: { ownerAccountId: newOwner(), strategyId, chainIds: [8453] }
  })),
  "POST /v2/enroll": row(
    (victim, { strategyId }) =>
      Effect.map(prepare(victim, victim.strategyId), (body) => ({ path: {}, body: { ...body, strategyId } })),
    (victim) => Effect.map(prepare(victim, victim.strategyId), (body) => ({ path: {}, body }))
  ),

  "GET /v2/portfolios": filtered(
    ({ strategyId }) => ({ strategyId }),
    ({ ownerAccountId }: Victim) => ({ ownerAccountId }),
    ({ externalId }: Victim) => ({ externalId })
  ),
  "GET /v2/portfolios/{portfolioId}": row(ofPortfolio()),
  "PATCH /v2/portfolios/{portfolioId}": row(ofPortfolio({ portfolioName: "Taken" })),
  "POST /v2/portfolios/{portfolioId}/start": row(ofPortfolio({})),
  "POST /v2/portfolios/{portfolioId}/stop": row(ofPortfolio({})),
  "GET /v2/portfolios/{portfolioId}/positions": row(ofPortfolio()),
  "GET /v2/portfolios/{portfolioId}/performance": row(ofPortfolio()),
  "GET /v2/portfolios/{portfolioId}/policy": row(ofPortfolio()),
  "POST /v2/portfolios/{portfolioId}/rebalance": row(
    ({ planHash }, { portfolioId }) => ({ path: { portfolioId }, body: { planHash } }),
    ofPortfolio({}),
    ({ planHash, portfolioId }) => ({ path: { portfolioId }, body: { planHash } })
  ),
  "POST /v2/portfolios/{portfolioId}/rebalance/preview": row(ofPortfolio({})),
  "POST /v2/portfolios/{portfolioId}/chains/signature": {
    ...row(ofPortfolio({ chainIds: [42161] })),
    answer: Errors.ValidationFailed
  },
  "POST /v2/portfolios/{portfolioId}/chains": row(inOwn(chains), chains),
  "POST /v2/portfolios/{portfolioId}/resign/signature": row(ofPortfolio({})),
  "POST /v2/portfolios/{portfolioId}/resign": row(inOwn(resign), resign),
  "POST /v2/portfolios/{portfolioId}/revoke/signature": row(ofPortfolio({})),
  "POST /v2/portfolios/{portfolioId}/revoke": row(inOwn(revoke), revoke),
  "POST /v2/portfolios/{portfolioId}/withdraw/signature": row(ofPortfolio(request)),
  "POST /v2/portfolios/{portfolioId}/withdraw": row(inOwn(withdrawal("withdraw")), withdrawal("withdraw")),
  "POST /v2/portfolios/{portfolioId}/liquidate-all/signature": row(
    ofPortfolio({ recipientAccountId: recipientOn(8453) })
  ),
  "POST /v2/portfolios/{portfolioId}/liquidate-all": row(
    inOwn(withdrawal("liquidate-all")),
    withdrawal("liquidate-all")
  ),
  "GET /v2/portfolios/{portfolioId}/operations": row(ofPortfolio()),
  "GET /v2/portfolios/{portfolioId}/operations/{operationId}": row(inOwn(ofOperation), ofOperation),
  "POST /v2/portfolios/{portfolioId}/operations/{operationId}/cancel": row(inOwn(ofOperation), ofOperation),
  "GET /v2/operations": filtered(({ portfolioId }) => ({ portfolioId })),

  "GET /v2/webhooks": "own",
  "POST /v2/webhooks": "own",
  "GET /v2/webhooks/{webhookId}": row(ofWebhook),
  "DELETE /v2/webhooks/{webhookId}": row(ofWebhook),
  "POST /v2/webhooks/{webhookId}/rotate-secret": row(ofWebhook),
  "POST /v2/webhooks/{webhookId}/enable": row(ofWebhook),
  "POST /v2/webhooks/{webhookId}/test": row(ofWebhook),
  "GET /v2/webhooks/{webhookId}/deliveries": row(ofWebhook),
  "GET /v2/requests": filtered(({ apiKeyId }) => ({ apiKeyId }))
}

const ofV1: Readonly<Record<string, Row | "own">> = {
  "GET /v1/portfolio/{portfolioId}/automation/status": row(ofPortfolio()),
  "GET /v1/portfolio/{portfolioId}/rebalance/status": row(ofPortfolio()),
  "POST /v1/portfolio/{portfolioId}/rebalance/schedule/start": row(ofPortfolio({})),
  "POST /v1/portfolio/{portfolioId}/rebalance/schedule/pause": row(ofPortfolio({})),
  "POST /v1/portfolio/{portfolioId}/rebalance/schedule/resume": row(ofPortfolio({})),
  "POST /v1/portfolio/{portfolioId}/rebalance/schedule/trigger": row(ofPortfolio({})),
  "POST /v1/portfolio/{portfolioId}/resign": row(ofPortfolio({})),
  "POST /v1/portfolio/{portfolioId}/resubmit-signature": row(inOwn(legacyConsent), legacyConsent),
  "POST /portfolio/{portfolioId}/execute": row(ofPortfolio(calls)),
  "GET /portfolio/{portfolioId}/execute/status/{executionId}": row(inOwn(ofExecution), ofExecution),
  "GET /v1/executions/{operationId}/stream": {
    ...row(({ operationId }) => ({ path: { operationId } })),
    takesSessions: true,
    isStream: true
  },
  "POST /v1/ai/executions/{operationId}/ag-ui-stream": {
    ...row(({ operationId }) => ({ path: { operationId }, body: { threadId: "thread", runId: operationId } })),
    takesSessions: true,
    isStream: true
  },
  "GET /v1/ai/executions/{operationId}/ag-ui-stream": {
    ...row(({ operationId }) => ({ path: { operationId } })),
    takesSessions: true,
    isStream: true
  }
}

export const routeRows: Readonly<Record<string, Row | "own">> = { ...ofV2, ...ofV1 }
