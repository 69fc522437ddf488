/** Tenants, keys, strategies and enrolled users, made through the API's own services and routes. */
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Eip55 from "#domain/values/Eip55.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { type Scope, scopes } from "#domain/values/Scopes.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { adminToken, Api } from "#test/api/support/Api.ts"
import { ownerSignature } from "#test/api/support/TestEnvironment.ts"
import { arbUsdc, baseUsdc, baseWeth, catalogue } from "#test/support/assets.ts"

const everyScope = scopes.map(({ name }) => name)

/** A fresh tenant with a key of every scope. */
export const newTenant = Effect.fnUntraced(function* (entitlements: ReadonlyArray<string> = []) {
  const tenants = yield* Tenants
  const { tenantId } = yield* tenants.create({ name: "Northwind", email: "ops@northwind.test", entitlements })
  const { secret, key } = yield* tenants.createKey(tenantId, {
    name: "Everything",
    scopes: everyScope,
    expiresAt: null
  })
  return { tenantId, key: Redacted.value(secret), apiKeyId: key.apiKeyId }
})

export type Actor = Effect.Success<ReturnType<typeof newTenant>>

/** A key of the tenant that holds the default tier and no more. */
export const readOnlyKey = Effect.fnUntraced(function* (
  { tenantId }: Pick<Actor, "tenantId">,
  more: ReadonlyArray<Scope> = []
) {
  const { secret } = yield* (yield* Tenants).createKey(tenantId, { name: "Reader", scopes: more, expiresAt: null })
  return Redacted.value(secret)
})

export const fillCatalogue = Effect.flatMap(AssetStore, (store) => store.upsertAssets([...catalogue.values()]))

export const strategyBody = {
  name: "Blue chips",
  description: "Half ether, half dollars",
  allocation: {
    assets: [
      { assetId: baseUsdc.assetId, weight: "40" },
      { assetId: baseWeth.assetId, weight: "35.5" },
      { assetId: arbUsdc.assetId, weight: "24.50" }
    ]
  },
  schedule: { type: "interval", frequency: "daily" },
  preferences: { swap: { slippageBps: 50, priceImpactBps: null, thresholdUsd: "5.00" } },
  isPublic: false
}

/** The operator's decision on who may mirror a strategy. */
export const setMirrorable = Effect.fnUntraced(function* (strategyId: string, body: unknown, token = adminToken) {
  const { call } = yield* Api
  const path = `/v1/admin/strategy-blueprints/${strategyId}/mirrorable`
  return yield* call("PATCH", path, { headers: { authorization: `Bearer ${token}` }, body })
})

/** Creates a strategy through the API; answers its id. The operator lets a public one be mirrored. */
export const newStrategy = Effect.fnUntraced(function* (
  { key }: Pick<Actor, "key">,
  changes: Record<string, unknown> = {}
) {
  yield* fillCatalogue
  const { call } = yield* Api
  const answer = yield* call("POST", "/v2/strategies", { key, body: { ...strategyBody, ...changes } })
  assert.strictEqual(answer.status, 201, answer.text)
  const strategyId = answer.json.data.strategyId as string
  if (changes["isPublic"] === true) yield* setMirrorable(strategyId, { canMirror: true })
  return strategyId
})

let owners = 0n

/** A wallet that no other call returns. */
export const newOwner = (): string => {
  owners += 1n
  return `eip155:0:${Eip55.checksum(`0x${(0x0dd0_0000n + owners).toString(16).padStart(40, "0")}`)}`
}

/** Stage 1; answers the body of stage 2. */
export const prepare = Effect.fnUntraced(function* (actor: Actor, strategyId: string, owner = newOwner()) {
  const { call } = yield* Api
  const request = { ownerAccountId: owner, strategyId, chainIds: [8453, 42161] }
  const answer = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: request })
  assert.strictEqual(answer.status, 200, answer.text)
  const { flowId, accountIndex, agentAccountId } = answer.json.data
  return { ...request, flowId, accountIndex, agentAccountId, signature: ownerSignature }
})

/** Runs both stages; answers what stage 2 answered. */
export const enroll = Effect.fnUntraced(function* (
  actor: Actor,
  strategyId: string,
  changes: Record<string, unknown> = {}
) {
  const { call } = yield* Api
  const body = { ...(yield* prepare(actor, strategyId)), ...changes }
  const answer = yield* call("POST", "/v2/enroll", { key: actor.key, body })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.json.data as {
    readonly portfolioId: string
    readonly smartAccounts: ReadonlyArray<{ readonly accountId: string }>
  }
})

/** A tenant with a strategy and one enrolled user. */
export const enrolledUser = Effect.fnUntraced(function* () {
  const actor = yield* newTenant()
  const strategyId = yield* newStrategy(actor)
  const { portfolioId, smartAccounts } = yield* enroll(actor, strategyId)
  return { ...actor, strategyId, portfolioId, smartAccounts: smartAccounts.map(({ accountId }) => accountId) }
})
