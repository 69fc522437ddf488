/**
 * A tenant with everything that has an id, and the people around it; and what distinguishes its ids from unknown ones.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { enroll, newOwner, newStrategy, newTenant, prepare } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { enrolled } from "#test/api/support/withdrawing.ts"

const made = Effect.fnUntraced(function* (key: string, path: string, body: unknown) {
  const answer = yield* (yield* Api).call("POST", path, { key, body })
  assert.isBelow(answer.status, 400, answer.text)
  return answer.json.data
})

/** A tenant whose only user owns a portfolio by a wallet that signs in. */
const ordinary = Effect.gen(function* () {
  const actor = yield* newTenant()
  const wallet = newOwner()
  const strategyId = yield* newStrategy(actor)
  const { portfolioId } = yield* enroll(actor, strategyId, yield* prepare(actor, strategyId, wallet))
  return { ...actor, strategyId, portfolioId, session: yield* signedIn(wallet) }
})

/** Somebody else: a key with every scope, and a person with a portfolio, both of another tenant. */
export const newAttacker = ordinary
export type Attacker = Effect.Success<typeof newAttacker>

export const newVictim = Effect.gen(function* () {
  const environment = yield* TestEnvironment
  environment.prices = new Map([
    [baseUsdc.assetId, Decimal.one],
    [baseWeth.assetId, 2_500n * Decimal.one],
    [arbUsdc.assetId, Decimal.one]
  ])
  const user = yield* enrolled()
  const { key, portfolioId, strategyId, tenantId } = user
  const wallet = `eip155:0:${user.wallet.address}`
  const { operationId } = yield* made(key, `/v2/portfolios/${portfolioId}/rebalance`, {})
  const { webhookId } = yield* made(key, "/v2/webhooks", { url: "https://hooks.northwind.test/ballast" })
  const { planHash } = yield* made(key, `/v2/portfolios/${portfolioId}/rebalance/preview`, {})
  const creator = yield* newTenant()
  const mirroredId = yield* newStrategy(creator, { isPublic: true })
  yield* enroll(user, mirroredId)
  const externalId = `crm-${tenantId}`
  const { call } = yield* Api
  yield* call("PATCH", `/v2/portfolios/${portfolioId}`, { key, body: { externalId, metadata: { of: tenantId } } })
  // Another user of the same tenant, who is no member of it.
  const neighbourWallet = newOwner()
  yield* enroll(user, strategyId, yield* prepare(user, strategyId, neighbourWallet))
  const member = yield* signedIn(newOwner(), tenantId)
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly userId: string }>`
    SELECT user_id AS "userId" FROM tenant_members WHERE tenant_id = ${tenantId}`
  return {
    ...user,
    ownerAccountId: wallet,
    operationId: operationId as string,
    webhookId: webhookId as string,
    planHash: planHash as string,
    mirroredId,
    externalId,
    userId: found!.userId,
    owner: yield* signedIn(wallet),
    neighbour: yield* signedIn(neighbourWallet),
    member
  }
})
export type Victim = Effect.Success<typeof newVictim>

/** All ids of the victim, none of which an answer to another may have. */
export const idsOf = (victim: Victim): ReadonlyArray<string> => [
  victim.tenantId,
  victim.apiKeyId,
  victim.strategyId,
  victim.portfolioId,
  victim.operationId,
  victim.webhookId,
  victim.planHash,
  victim.mirroredId,
  victim.externalId,
  victim.userId,
  victim.wallet.address,
  victim.base.split(":")[2]!
]

const ulid = /(?<![0-9A-Za-z])(?:[a-z]+_)?[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Za-z])/gu

/** Asks about ids of the same form that nobody has; what is `kept` are the attacker's own. */
export const aboutNothing = <A>(asked: A, kept: ReadonlyArray<string>, planHash: string): A => {
  const own = new Set(kept)
  return JSON.parse(
    JSON.stringify(asked)
      .replaceAll(planHash, "0".repeat(64))
      .replaceAll(ulid, (id) => (own.has(id) ? id : `${id.slice(0, -6)}ZZZZZZ`))
  )
}

/** An answer without its ids and times: what is left is the same for a foreign id and for one that nobody has. */
export const withoutIds = (value: unknown): unknown =>
  JSON.parse(
    (JSON.stringify(value) ?? "null")
      .replaceAll(ulid, "<id>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, "<time>")
      .replaceAll(/[0-9a-f]{32,64}/gu, "<hash>")
  )

/** All that is stored, but for when something was used and what was refused. */
export const contents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'refused_requests' ORDER BY 1`
  const parts = tables.map(
    ({ name }) => `SELECT '${name}' AS name, coalesce(string_agg(row, chr(10) ORDER BY row), '') AS rows FROM (
      SELECT (to_jsonb(t) - 'last_used_at' - 'used_at')::text AS row FROM "${name}" t) r`
  )
  const rows = yield* sql.unsafe<{ readonly name: string; readonly rows: string }>(parts.join(" UNION ALL "))
  return Object.fromEntries(rows.map(({ name, rows: text }) => [name, text]))
})

/** Names of fields under which a request has an id that is not among the attacker's own. */
export const exercised = (asked: unknown, own: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (typeof asked !== "object" || asked === null) return []
  return Object.entries(asked).flatMap(([name, value]) =>
    typeof value === "string"
      ? (value.match(ulid) ?? value.match(/^[0-9a-f]{64}$/gu) ?? []).some((id) => !own.includes(id))
        ? [name]
        : []
      : exercised(value, own)
  )
}

/** Fields that are named like ids of a tenant's objects, and name what belongs to nobody, or to the sender. */
const ofNobody: ReadonlySet<string> = new Set([
  "agentAccountId",
  "assetCanonicalId",
  "assetId",
  "assetIds",
  "caipAssetId",
  "chainId",
  "chainIds",
  "coinIds",
  "correlationId",
  "excludeAssetIds",
  "expectedVaultChainId",
  "externalId",
  "fromChainId",
  "lastEventId",
  "ownerAccountId",
  "parentRunId",
  "recipientAccountId",
  "requestId",
  "runId",
  "settlementAssetId",
  "threadId",
  "toChainId",
  "walletId"
])

/** Whether a field names an object of a tenant. */
export const namesObject = (field: string): boolean => /(?:Id|Ids|Hash)$/u.test(field) && !ofNobody.has(field)

/** The fields of a schema and of all that it refers to. */
export const fieldsOf = (schema: any, definitions: any, seen = new Set<string>()): ReadonlyArray<string> => {
  if (typeof schema !== "object" || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap((one) => fieldsOf(one, definitions, seen))
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").at(-1)!
    if (seen.has(name)) return []
    seen.add(name)
    return fieldsOf(definitions[name], definitions, seen)
  }
  const properties = Object.entries<any>(schema.properties ?? {})
  return [
    ...properties.flatMap(([name, value]) => [name, ...fieldsOf(value, definitions, seen)]),
    ...["items", "anyOf", "oneOf", "allOf"].flatMap((key) => fieldsOf(schema[key], definitions, seen))
  ]
}
