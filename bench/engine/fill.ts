/**
 * Portfolios for the engine to work on, written by the database itself; each holds an account of its own, which no
 * chain knows.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { assetsOf, authorizationOf, chainIds } from "#bench/engine/noChain.ts"
import { type EvmAddress, evmAccount } from "#domain/values/Caip.ts"
import { Authorization } from "#domain/account/Authorization.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"

const encodeAuthorization = Schema.encodeSync(Schema.toCodecJson(Authorization))
const anyAddress = `0x${"9".repeat(40)}` as EvmAddress
const strategyIdOf = (n: string) => `('01JQ8Z' || lpad((${n})::text, 20, '0'))`
const tenantIdOf = (n: string) => `('tn_01JQ8Z' || lpad((${n})::text, 20, '0'))`
const portfolioIdOf = (n: string) => `('pf_01JQ8Z' || lpad((${n})::text, 20, '0'))`
/** Digits alone, which have no mixed case to get wrong. */
const addressOf = (n: string) => `('0x' || lpad((${n})::text, 40, '0'))`
const past = "timestamptz '2026-01-01T00:00:00Z'"

/** Portfolios that one statement writes: the first few, by which the others are planned, and then many. */
const firstBatch = 1_000
const batch = 50_000

/** Runs statements on a connection where they may take as long as they need: the pool's are ended after a minute. */
export const patiently = <A, E, R>(statements: Effect.Effect<A, E, R>) =>
  Effect.flatMap(DatabaseInfo, ({ patient }) =>
    patient === null ? Effect.die(new Error("A benchmark needs a server")) : Effect.provide(statements, patient)
  )

/** `portfolios` with active schedules that are due long after this run, spread evenly over `tenants`. */
export const fill = Effect.fnUntraced(function* (tenants: number, portfolios: number) {
  const sql = yield* SqlClient.SqlClient
  yield* (yield* AssetStore).upsertAssets(chainIds.flatMap(assetsOf))
  yield* sql.unsafe(
    `INSERT INTO tenants (tenant_id, name, email, entitlements, created_at)
     SELECT ${tenantIdOf("n")}, 'Tenant ' || n, 'ops@tenant.example', '{}', ${past} FROM generate_series(1, $1::int) n`,
    [tenants]
  )
  for (const [index, chainId] of chainIds.entries()) {
    const allocation = assetsOf(chainId).map(({ assetId }, asset) => ({ assetId, weight: asset === 0 ? 6_000 : 4_000 }))
    yield* sql.unsafe(
      `INSERT INTO strategies (strategy_id, tenant_id, name, frequency, is_public, head_version, created_at)
       VALUES (${strategyIdOf(`${index}`)}, ${tenantIdOf("1")}, 'Blue chips', 'daily', false, 1, ${past})`
    )
    yield* sql.unsafe(
      `INSERT INTO strategy_versions (strategy_id, version, allocation, created_at)
       VALUES (${strategyIdOf(`${index}`)}, 1, $1::jsonb, ${past})`,
      [JSON.stringify(allocation)]
    )
  }
  const ofChain = `n % ${chainIds.length}`
  const namespaces = chainIds.map((chainId) => `'eip155:${chainId}:'`).join(", ")
  const statements = [
    `INSERT INTO portfolios (portfolio_id, tenant_id, strategy_id, owner_account_id, account_index, account_ids,
       strategy_version, created_at, updated_at)
     SELECT ${portfolioIdOf("n")}, ${tenantIdOf("1 + n % $3::int")}, ${strategyIdOf(ofChain)},
       'eip155:0:0x' || lpad(to_hex(n), 40, '0'), 0, ARRAY[(ARRAY[${namespaces}])[1 + ${ofChain}] || ${addressOf("n")}],
       1, ${past}, ${past}
     FROM generate_series($1::int, $2::int) n`,
    `INSERT INTO schedules (portfolio_id, tenant_id, strategy_id, status, due_at, portfolio_created_at, updated_at)
     SELECT ${portfolioIdOf("n")}, ${tenantIdOf("1 + n % $3::int")}, ${strategyIdOf(ofChain)}, 'active',
     timestamptz '2100-01-01T00:00:00Z', ${past}, ${past}
     FROM generate_series($1::int, $2::int) n`
  ]
  // What triggers write for new portfolios (events, monitors) is not measured, and takes milliseconds each.
  yield* sql`ALTER TABLE portfolios DISABLE TRIGGER USER`
  for (let from = 1; from <= portfolios;) {
    const to = Math.min(portfolios, from === 1 ? firstBatch : from + batch - 1)
    for (const statement of statements) yield* sql.unsafe(statement, [from, to, tenants])
    // Checks of foreign keys were planned for empty tables, and would go through them whole.
    if (from === 1) yield* sql`ANALYZE`
    from = to + 1
  }
  yield* sql`ALTER TABLE portfolios ENABLE TRIGGER USER`
  yield* sql`VACUUM (ANALYZE)`
}, patiently)

/** What the owners of the first `portfolios` authorized; runs need it, claims do not. */
export const fillGrants = Effect.fnUntraced(function* (portfolios: number) {
  const sql = yield* SqlClient.SqlClient
  for (const [index, chainId] of chainIds.entries())
    yield* sql.unsafe(
      `INSERT INTO grants (portfolio_id, sequence, authorization_document, owner_signature, granted_at)
       SELECT ${portfolioIdOf("n")}, 1, replace($2, '${anyAddress}', ${addressOf("n")})::jsonb, '0x5a5a', ${past}
       FROM generate_series(1, $1::int) n WHERE n % ${chainIds.length} = ${index}`,
      [portfolios, JSON.stringify(encodeAuthorization(authorizationOf(chainId, evmAccount(chainId, anyAddress))))]
    )
})

/** Makes the first `count` portfolios due now. */
export const makeDue = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `UPDATE schedules SET due_at = ${past} + make_interval(secs => n)
     FROM generate_series(1, $1::int) n WHERE portfolio_id = ${portfolioIdOf("n")}`,
    [count]
  )
}, patiently)
