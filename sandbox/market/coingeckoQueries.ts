/** Parameters of the requests that the stand-in of CoinGecko takes. */
import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"

const Flag = Schema.optionalKey(Schema.Literals(["true", "false"]))
const common = {
  vs_currencies: Schema.NonEmptyString,
  include_market_cap: Flag,
  include_24hr_vol: Flag,
  include_24hr_change: Flag,
  include_last_updated_at: Flag,
  precision: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^(full|[0-9]|1[0-8])$/u))),
  x_cg_demo_api_key: Schema.optionalKey(Schema.String)
}
export const ContractQuery = Schema.Struct({ ...common, contract_addresses: Schema.NonEmptyString })
export const CoinQuery = Schema.Struct({ ...common, ids: Schema.NonEmptyString })
export type Options = Omit<typeof CoinQuery.Type, "ids">
export const ChartQuery = Schema.Struct({
  vs_currency: Schema.Literal("usd"),
  days: Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 100_000 })),
  interval: Schema.optionalKey(Schema.Literal("daily")),
  precision: common.precision,
  x_cg_demo_api_key: common.x_cg_demo_api_key
})

const Count = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 250 }))
export const MarketsQuery = Schema.Struct({
  vs_currency: Schema.Literal("usd"),
  ids: Schema.optionalKey(Schema.String),
  page: Schema.optionalKey(Count),
  per_page: Schema.optionalKey(Count),
  sparkline: Flag
})
export const OhlcQuery = Schema.Struct({
  vs_currency: Schema.Literal("usd"),
  days: Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 365 }))
})

/** A plan with a price has a header of its own. */
export const paidKeyHeader = "x-cg-pro-api-key"

/** The key that a request contains, of whichever plan. */
export const keyOf = (
  headers: Readonly<Record<string, string | undefined>>,
  query: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
) => headers[paidKeyHeader] ?? headers["x-cg-demo-api-key"] ?? query["x_cg_demo_api_key"]

/** Whether the request has a key, of whichever plan; one that is not valid was refused before. */
export const isKeyed = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  return keyOf(headers, yield* HttpServerRequest.ParsedSearchParams) !== undefined
})
