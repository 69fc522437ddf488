/** Every list of the service as two reads through its store: the first page, and one at 90 percent of its depth. */
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { bigOwner, bigStrategy, tenantId, versionCount } from "#bench/lists/fill.ts"
import type { Cursor } from "#domain/values/Cursor.ts"
import type { RankedPosition } from "#domain/discovery/DiscoveryCursor.ts"
import { DiscoveryStore } from "#domain/discovery/DiscoveryStore.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import { type PortfolioFilter, PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

/** Rows a page, the default of every route. */
export const limit = 50
const depth = 0.9

export interface List {
  readonly name: string
  readonly first: Effect.Effect<ReadonlyArray<unknown>>
  readonly deep: Effect.Effect<ReadonlyArray<unknown>>
}

/** The row at 90 percent of a list, found once by counting. */
const deepRow = Effect.fnUntraced(function* <Row extends object>(columns: string, from: string, order: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql.unsafe<Row>(`
    SELECT ${columns} FROM ${from} ORDER BY ${order}
    OFFSET (SELECT floor(count(*) * ${depth}) FROM ${from}) LIMIT 1`)
  return row ?? (yield* Effect.die(new Error(`The list of ${from} is empty`)))
})

const portfolios = Effect.fnUntraced(function* (name: string, filter: PortfolioFilter, where: string) {
  const store = yield* PortfolioStore
  const { at, id } = yield* deepRow<{ readonly at: Date; readonly id: string }>(
    "p.created_at AS at, p.portfolio_id AS id",
    `portfolios p JOIN schedules c USING (portfolio_id) WHERE p.tenant_id = '${tenantId}' AND ${where}`,
    "p.created_at DESC, p.portfolio_id DESC"
  )
  const after: Cursor = { createdAt: DateTime.makeUnsafe(at), id }
  return {
    name: `portfolios${name}`,
    first: store.list(tenantId, filter, { limit, after: null }),
    deep: store.list(tenantId, filter, { limit, after })
  }
})

const strategies = Effect.gen(function* () {
  const store = yield* StrategyStore
  const { at, id } = yield* deepRow<{ readonly at: Date; readonly id: string }>(
    "created_at AS at, strategy_id AS id",
    `strategies WHERE tenant_id = '${tenantId}'`,
    "created_at DESC, strategy_id DESC"
  )
  return {
    name: "strategies",
    first: store.list(tenantId, {}, { limit, after: null }),
    deep: store.list(tenantId, {}, { limit, after: { createdAt: DateTime.makeUnsafe(at), id } })
  }
})

const versions = Effect.map(StrategyStore, (store) => ({
  name: "versions of a strategy",
  first: store.versions(bigStrategy, { limit, before: null }),
  deep: store.versions(bigStrategy, { limit, before: Math.floor(versionCount * (1 - depth)) })
}))

const ranking = Effect.fnUntraced(function* (sort: RankedPosition["sort"], column: string) {
  const store = yield* DiscoveryStore
  const { id, value } = yield* deepRow<{ readonly id: string; readonly value: string }>(
    `${column}::text AS value, strategy_id AS id`,
    "discovery_entries",
    `${column} DESC NULLS LAST, strategy_id DESC`
  )
  const after: RankedPosition = {
    collection: "top_performing",
    sort,
    value: Decimal.parse(value)!,
    strategyId: id as StrategyId
  }
  return {
    name: `discovery by ${sort}`,
    first: store.ranked(sort, null, limit),
    deep: store.ranked(sort, after, limit)
  }
})

const curated = Effect.map(DiscoveryStore, (store) => ({
  name: "discovery, curated",
  first: store.curated(null, limit),
  deep: store.curated({ collection: "curated", position: 440 }, limit)
}))

/** All lists of one tenant, and those of discovery. */
export const tenantLists = Effect.all([
  portfolios("", {}, "true"),
  portfolios(" of an owner", { ownerAccountId: bigOwner }, `p.owner_account_id = '${bigOwner}'`),
  portfolios(" of a strategy", { strategyId: bigStrategy }, `p.strategy_id = '${bigStrategy}'`),
  portfolios(" with metadata", { metadata: { key: "plan", value: "gold" } }, "p.metadata ->> 'plan' = 'gold'"),
  portfolios(", active", { status: "active" }, "c.status = 'active'"),
  portfolios(", paused", { status: "paused" }, "c.status = 'paused'"),
  strategies,
  versions
])

export const discoveryLists = Effect.all([
  ranking("tvl.desc", "tvl_usd"),
  ranking("inflows7d.desc", "inflows_7d_usd"),
  ranking("users.desc", "users"),
  curated
])
