/**
 * Browsing, search and quotes in Fastify 5 with pg: prepared statements over trigram and array indexes, rows ready as
 * JSON text. It checks the input by schema; it limits, traces and restricts nothing.
 */
import Fastify from "fastify"
import { Pool } from "pg"
import { serve } from "#bench/peers/serve.ts"

interface Input {
  readonly q?: string
  readonly exposureSlug?: string
  readonly cursor?: number
  readonly limit?: number
  readonly coinIds?: ReadonlyArray<string>
}

const escaped = (text: string) => text.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")

const searchQuery = `
  SELECT row FROM peer_assets
  WHERE symbol LIKE $2 OR ticker LIKE $2 OR name LIKE $2
  ORDER BY CASE
    WHEN symbol = $1 OR ticker = $1 THEN 0
    WHEN starts_with(symbol, $1) OR starts_with(ticker, $1) THEN 1
    WHEN starts_with(name, $1) THEN 2
    WHEN name LIKE $3 THEN 3 ELSE 4 END, rank
  LIMIT $4`

serve(async ({ database, poolSize }: { readonly database: string; readonly poolSize: number }) => {
  const pool = new Pool({ connectionString: database, max: poolSize })
  const app = Fastify()
  const answer = (items: ReadonlyArray<string>) => `{"result":{"data":{"json":{"items":[${items.join(",")}]}}}}`
  const route = (procedure: string, read: (input: Input) => Promise<ReadonlyArray<string>>) =>
    app.get<{ Querystring: { readonly input: string } }>(
      `/v1/rpc/${procedure}`,
      { schema: { querystring: { type: "object", required: ["input"], properties: { input: { type: "string" } } } } },
      async ({ query }, reply) => {
        const { json } = JSON.parse(query.input) as { readonly json: Input }
        return reply.type("application/json").send(answer(await read(json)))
      }
    )
  route("assets.searchForTokens", async ({ limit = 20, q = "" }) => {
    const text = escaped(q)
    const values = [q.toLowerCase(), `%${text}%`, `% ${text}%`, limit]
    const { rows } = await pool.query<{ readonly row: string }>({ name: "search", text: searchQuery, values })
    return rows.map(({ row }) => row)
  })
  route("assets.browseAssets", async ({ cursor = 0, exposureSlug = "", limit = 24 }) => {
    const { rows } = await pool.query<{ readonly item: string }>({
      name: "browse",
      text: "SELECT item FROM peer_assets WHERE exposures @> ARRAY[$1::text] ORDER BY rank LIMIT $2 OFFSET $3",
      values: [exposureSlug, limit, cursor]
    })
    return rows.map(({ item }) => item)
  })
  route("cryptoMarketData.getMarketQuotes", async ({ coinIds = [] }) => {
    const { rows } = await pool.query<{ readonly item: string }>({
      name: "quotes",
      text: `SELECT item FROM unnest($1::text[]) WITH ORDINALITY AS wanted (coin_id, position)
        JOIN peer_coins USING (coin_id) ORDER BY position`,
      values: [coinIds]
    })
    return rows.map(({ item }) => item)
  })
  await app.listen({ host: "127.0.0.1", port: 0 })
  return app.server
})
