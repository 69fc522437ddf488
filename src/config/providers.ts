/** Reads how the providers of prices and routes are reached. */
import { Effect } from "effect"
import type { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import type { IssuerTerms } from "#domain/trading/Issuer.ts"
import type { OndoConfig } from "#layers/issuer/ondo/OndoConfig.ts"
import type { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"
import * as Kind from "#src/config/kinds.ts"
import { all, optional, required, type Setting, withDefault } from "#src/config/Setting.ts"

/** What a plan allows decides whether prices come in time, so the example says it. */
const coinGeckoKey = Kind.secret(
  /^[!-~]{1,200}$/,
  "a key without spaces, of a paid plan (with COINGECKO_PLAN=pro) where money is at stake: one of the Demo plan is for a month of trying with few tokens, and without a key a request prices one token",
  "CG-..."
)

export const coinGecko: Setting<CoinGeckoConfig["Service"]> = Effect.gen(function* () {
  const { apiKey, plan, url } = yield* all({
    url: optional("COINGECKO_URL", Kind.httpUrl("https://pro-api.coingecko.com/api/v3")),
    apiKey: optional("COINGECKO_API_KEY", coinGeckoKey),
    plan: withDefault("COINGECKO_PLAN", Kind.oneOf(["demo", "pro"]), "demo")
  })
  const host = plan === "pro" ? "pro-api.coingecko.com" : "api.coingecko.com"
  return { baseUrl: url ?? `https://${host}/api/v3`, apiKey, plan }
})

/** URL of the provider. Without it no value moves between chains, and swaps are made on the venue alone. */
export const lifi: Setting<LifiConfig["Service"]> = Effect.map(
  all({
    url: optional("LIFI_URL", Kind.httpUrl("https://li.quest/v1")),
    apiKey: optional(
      "LIFI_API_KEY",
      Kind.secret(/^[!-~]{1,200}$/, "a key without spaces", "the key of the integrator")
    ),
    integrator: withDefault("LIFI_INTEGRATOR", Kind.text("a name", "ballast"), "ballast"),
    exchanges: optional("LIFI_EXCHANGES", Kind.listOf(Kind.text("the key of an exchange", "uniswap")))
  }),
  ({ apiKey, exchanges, integrator, url }) => ({ apiKey, exchanges, integrator, baseUrl: url })
)

/** Trades with issuers are made where `ISSUER_DIRECT` allows it, on the chains that have a manager of Ondo's. */
export const ondo: Setting<{ readonly config: OndoConfig["Service"]; readonly terms: IssuerTerms["Service"] }> =
  Effect.gen(function* () {
    const { deviationBps, isOffered } = yield* all({
      isOffered: withDefault("ISSUER_DIRECT", Kind.boolean, false),
      deviationBps: withDefault("ISSUER_MAX_DEVIATION_BPS", Kind.integer(1, 1_000, "100"), 100)
    })
    const terms = { isOffered, deviationBps }
    const key = Kind.secret(/^[!-~]{1,200}$/, "a key without spaces", "the key of the deployment")
    const { apiKey, baseUrl } = yield* all({
      baseUrl: withDefault("ONDO_URL", Kind.httpUrl("https://api.gm.ondo.finance"), "https://api.gm.ondo.finance"),
      apiKey: isOffered ? required("ONDO_API_KEY", key) : optional("ONDO_API_KEY", key)
    })
    return { config: { baseUrl, apiKey }, terms }
  })
