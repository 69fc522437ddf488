/** The peer's list of strategies: pages by keyset, newest first, with the service's cursors. */
import type { Pool } from "pg"
import { percent, threshold } from "#bench/peers/money.ts"

const select = `
  SELECT s.strategy_id, s.name, s.description, v.allocation, s.frequency, s.slippage_bps, s.price_impact_bps,
    s.threshold_usd, s.max_apy, s.is_public, s.head_version, s.created_at
  FROM strategies s
  JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version
  WHERE s.tenant_id = $1`
const order = "ORDER BY s.created_at DESC, s.strategy_id DESC LIMIT $2"
const firstPage = `${select} ${order}`
const pageAfter = `${select} AND (s.created_at, s.strategy_id) < ($3, $4) ${order}`

interface Row {
  readonly strategy_id: string
  readonly name: string
  readonly description: string | null
  readonly allocation: ReadonlyArray<{ readonly assetId: string; readonly weight: number }>
  readonly frequency: string
  readonly slippage_bps: number | null
  readonly price_impact_bps: number | null
  readonly threshold_usd: string | null
  readonly max_apy: string | null
  readonly is_public: boolean
  readonly head_version: number
  readonly created_at: Date
}

interface Cursor {
  readonly l: string
  readonly c: string
  readonly i: string
}

const encodeCursor = (row: Row): string => {
  const cursor: Cursor = { l: "strategies", c: row.created_at.toISOString(), i: row.strategy_id }
  return Buffer.from(JSON.stringify(cursor), "utf8").toString("base64url")
}

const decodeCursor = (text: string): Cursor | undefined => {
  try {
    const cursor = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Cursor
    return cursor.l === "strategies" ? cursor : undefined
  } catch {
    return undefined
  }
}

const view = (row: Row) => ({
  strategyId: row.strategy_id,
  name: row.name,
  description: row.description,
  ...(row.max_apy === null ? {} : { maxApy: Number(row.max_apy).toFixed(2) }),
  allocation: { assets: row.allocation.map(({ assetId, weight }) => ({ assetId, weight: percent(weight) })) },
  schedule: { type: "interval", frequency: row.frequency },
  preferences: {
    swap: {
      slippageBps: row.slippage_bps,
      priceImpactBps: row.price_impact_bps,
      thresholdUsd: row.threshold_usd === null ? null : threshold(row.threshold_usd)
    }
  },
  isPublic: row.is_public,
  version: row.head_version,
  createdAt: row.created_at.toISOString()
})

/** One page; undefined when the cursor is none of this list. */
export const listStrategies = async (
  pool: Pool,
  tenantId: string,
  { cursor, limit }: { readonly limit: number; readonly cursor: string | undefined }
) => {
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  if (cursor !== undefined && after === undefined) return undefined
  const { rows } = await pool.query<Row>(
    after === undefined
      ? { name: "first-strategies", text: firstPage, values: [tenantId, limit + 1] }
      : { name: "more-strategies", text: pageAfter, values: [tenantId, limit + 1, after.c, after.i] }
  )
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    success: true,
    data: { strategies: page.map(view) },
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last) : null
  }
}
