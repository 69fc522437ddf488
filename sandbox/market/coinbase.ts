/** What Coinbase says of the shares that it tokenizes, in its documented shape, under `/coinbase`. */
import { DateTime, Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { content } from "#layers/catalogue/content.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import { sharePrice } from "#sandbox/market/stockMarket.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const problem = (status: number, message: string) => HttpServerResponse.jsonUnsafe({ error: message }, { status })
const answers = { error: problem(500, "Internal Server Error"), rateLimited: problem(429, "Too many requests") }

/** `GET /coinbase/v1/tokenized-stocks`. The first share was split: a token of it is one and a half shares. */
export const coinbase = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const faults = yield* Faults
    const clock = yield* WorldClock
    const subjects = new Map(content.assets.map((asset) => [asset.assetCanonicalId, asset]))
    const tokens = content.representations.filter(({ issuer }) => issuer === "coinbase")
    yield* router.add(
      "GET",
      "/coinbase/v1/tokenized-stocks",
      Effect.gen(function* () {
        const mode = yield* faults.take("issuers")
        return yield* withFaults(
          mode,
          answers,
          Effect.map(clock.read, ({ now }) =>
            HttpServerResponse.jsonUnsafe({
              tokens: tokens.map(({ assetCanonicalId, caipAssetId, decimals, symbol }, index) => {
                const { name, symbol: ticker } = subjects.get(assetCanonicalId)!
                return {
                  contract_address: caipAssetId.slice(caipAssetId.lastIndexOf(":") + 1).toLowerCase(),
                  symbol,
                  name,
                  decimals,
                  icon_url: `https://tokens.example/${ticker}.png`,
                  total_supply: "100000",
                  isin: null,
                  multiplier: index === 0 ? "1.5" : "1",
                  paused_features: [],
                  nav_price: String(sharePrice(ticker, Math.floor(now / 1000))),
                  nav_price_updated_at: DateTime.formatIso(DateTime.makeUnsafe(now))
                }
              })
            })
          )
        )
      })
    )
  })
)
