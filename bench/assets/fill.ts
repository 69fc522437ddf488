/**
 * A catalogue of 20,000 tokens beside the checked-in one, a thousand coins in the cache, and the peer's tables of the
 * same.
 */
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { coinCount, tokenCount } from "#bench/assets/requests.ts"
import { snapshotOf } from "#bench/assets/snapshotOf.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { content } from "#layers/catalogue/content.ts"
import { CatalogueStore } from "#layers/sql/asset/CatalogueStore.ts"
import { storableJson } from "#layers/sql/storable.ts"

const coins = Array.from({ length: coinCount }, (_, n) => ({
  coinId: `coin-${n}`,
  symbol: `C${n}`,
  name: `Coin ${n}`,
  iconUrl: null,
  priceUsd: String(1 + n),
  priceChangePercentage1h: "0.1",
  priceChangePercentage24h: String((n % 21) - 10),
  priceChangePercentage7d: "1",
  marketCapUsd: String((coinCount - n) * 1_000_000),
  volume24hUsd: "1000000",
  marketCapRank: n + 1,
  updatedAt: "2026-03-01T00:00:00.000Z",
  sparkline24h: []
}))

const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* (yield* CatalogueStore).load(content)
  yield* sql`
    INSERT INTO canonical_assets
    SELECT md5(n::text)::uuid, 'equity', 'S' || n, 'Company ' || n || ' Holdings'
    FROM generate_series(1, ${tokenCount / 2}::int) n`
  yield* sql`
    INSERT INTO asset_representations
    SELECT 'eip155:' || chain || '/erc20:0x' || lpad(to_hex(n), 40, '0'), md5(n::text)::uuid,
      CASE chain WHEN 1 THEN 'ondo' ELSE 'xstocks' END, 'plain', 18, 'S' || n || CASE chain WHEN 1 THEN 'on'
      ELSE 'x' END
    FROM generate_series(1, ${tokenCount / 2}::int) n, unnest(ARRAY[1, 8453]) chain`
  yield* sql`
    INSERT INTO asset_classifications
    SELECT md5(n::text)::uuid, 'platformSector', 'sector-' || n % 10, 'Sector ' || n % 10, 9000, 0
    FROM generate_series(1, ${tokenCount / 2}::int) n`
  for (let page = 0; page < 4; page += 1) {
    yield* sql`
      INSERT INTO market_datasets (name, provider, revision, fetched_at, attempted_at, data)
      VALUES (${`coin-markets:${page + 1}`}, 'coingecko', ${page + 1}, now(), now(),
        ${storableJson(coins.slice(page * 250, (page + 1) * 250))}::jsonb)`
  }
})

/** What the peer reads: each row ready as JSON, ranked, with the indexes that a search needs. */
const peerTables = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const snapshot = yield* snapshotOf(url)
    const listed = snapshot.ranked.map((listing, rank) => ({
      rank,
      symbols: [...new Set([listing.asset.symbol, listing.ticker ?? listing.asset.symbol])]
        .join("\u0001")
        .toLowerCase(),
      name: listing.asset.name.toLowerCase(),
      exposures: [...listing.exposureSlugs],
      item: snapshot.itemOf(listing),
      isVerified: listing.asset.subject !== null
    }))
    yield* sql`CREATE EXTENSION IF NOT EXISTS pg_trgm`
    yield* sql`
      CREATE TABLE peer_assets (rank int PRIMARY KEY, symbol text NOT NULL, ticker text NOT NULL, name text NOT NULL,
        exposures text[] NOT NULL, item text NOT NULL, row text NOT NULL)`
    for (let first = 0; first < listed.length; first += 2_000) {
      const chunk = listed.slice(first, first + 2_000)
      yield* sql`
        INSERT INTO peer_assets
        SELECT rank, split_part(symbols, ${"\u0001"}, 1), split_part(symbols || ${"\u0001"} || symbols, ${"\u0001"}, 2),
        name, string_to_array(exposures, ','), item, row
        FROM unnest(${chunk.map(({ rank }) => rank)}::int[], ${chunk.map(({ symbols }) => symbols)}::text[],
          ${chunk.map(({ name }) => name)}::text[], ${chunk.map(({ exposures }) => exposures.join(","))}::text[],
          ${chunk.map(({ item }) => JSON.stringify(item))}::text[],
          ${chunk.map(({ isVerified, item }) =>
            JSON.stringify({
              type: "token",
              ...item,
              ticker: null,
              companyName: null,
              tags: [],
              isVerifiedByGlider: isVerified
            })
          )}::text[]) AS listed (rank, symbols, name, exposures, item, row)`
    }
    yield* sql`CREATE INDEX ON peer_assets USING gin (symbol gin_trgm_ops, ticker gin_trgm_ops, name gin_trgm_ops)`
    yield* sql`CREATE INDEX ON peer_assets USING gin (exposures)`
    yield* sql`CREATE TABLE peer_coins (coin_id text PRIMARY KEY, item text NOT NULL)`
    const quotes = coins.map(
      ({ priceChangePercentage1h: _h, priceChangePercentage7d: _w, sparkline24h: _l, updatedAt: _u, ...quote }) => quote
    )
    yield* sql`
      INSERT INTO peer_coins
      SELECT * FROM unnest(${quotes.map(({ coinId }) => coinId)}::text[],
        ${quotes.map((quote) => JSON.stringify(quote))}::text[])`
    yield* sql`ANALYZE peer_assets`
    yield* sql`ANALYZE peer_coins`
  })

export const fill = (url: string) =>
  Effect.andThen(rows, peerTables(url)).pipe(
    Effect.provide(CatalogueStore.layer.pipe(Layer.provideMerge(databaseLayer(url)))),
    Effect.provide(SecureRandom.layerWebCrypto)
  )
