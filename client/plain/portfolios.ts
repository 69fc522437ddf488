/** Portfolios: what they hold, how they do, and their rebalances. */
import type { Call, CallOptions, DataOf, FilterOf, PayloadOf } from "#client/plain/Call.ts"
import { type Pages, pagesOf } from "#client/plain/pages.ts"

type Filter = FilterOf<"listPortfolios">
type Patch = PayloadOf<"updatePortfolio">

/**
 * Portfolios of the tenant. One that is unknown, or another tenant's, is `API_006`, or `API_200` where it is acted on.
 */
export interface Portfolios {
  /** Newest first, by the query's filters. A cursor of another list is `API_002`. */
  readonly list: (query?: Filter, options?: CallOptions) => Pages<DataOf<"listPortfolios">["portfolios"][number]>
  /** One portfolio with its accounts and schedule. */
  readonly get: (portfolioId: string, options?: CallOptions) => Promise<DataOf<"getPortfolio">>
  /** Changes its name, external id or metadata; what is left out stays. An external id that is taken is `API_230`. */
  readonly update: (portfolioId: string, payload: Patch, options?: CallOptions) => Promise<DataOf<"updatePortfolio">>
  /** Resumes the schedule. */
  readonly start: (portfolioId: string, options?: CallOptions) => Promise<DataOf<"startPortfolio">>
  /** Pauses the schedule; operations that have begun go on. */
  readonly stop: (portfolioId: string, options?: CallOptions) => Promise<DataOf<"stopPortfolio">>
  /** What it holds now, with prices and weights. */
  readonly positions: (portfolioId: string, options?: CallOptions) => Promise<DataOf<"getPositions">>
  /** Its value over time. */
  readonly performance: (portfolioId: string, options?: CallOptions) => Promise<DataOf<"getPortfolioPerformance">>
  /** What the agent may do on each chain, as the chains say. */
  readonly policy: (portfolioId: string, options?: CallOptions) => Promise<DataOf<"getPolicy">>
  /** What a rebalance would do now; nothing is traded. Its `planHash` holds a rebalance to this plan. */
  readonly preview: (portfolioId: string, options?: CallOptions) => Promise<DataOf<"previewRebalance">>
  /**
   * Starts a rebalance, which `operations.watch` or `operations.finished` follows. With `planHash` only while its plan
   * is still the previewed one, else `API_203`. Give an `idempotencyKey` to make it safe to send again.
   */
  readonly rebalance: (
    portfolioId: string,
    options?: { readonly planHash?: string } & CallOptions
  ) => Promise<DataOf<"rebalancePortfolio">>
}

const byId = (portfolioId: string) => ({ params: { portfolioId } })

export const portfoliosOf = (call: Call): Portfolios => ({
  list: (query: Filter = {}, options?: CallOptions) =>
    pagesOf(async (cursor) => {
      const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const { data, nextCursor } = await call.whole("listPortfolios", { query: page, ...options })
      return { items: data.portfolios, nextCursor }
    }),
  get: (portfolioId: string, options?: CallOptions) => call("getPortfolio", { ...byId(portfolioId), ...options }),
  update: (portfolioId: string, payload: Patch, options?: CallOptions) =>
    call("updatePortfolio", { ...byId(portfolioId), payload, ...options }),
  start: (portfolioId: string, options?: CallOptions) => call("startPortfolio", { ...byId(portfolioId), ...options }),
  stop: (portfolioId: string, options?: CallOptions) => call("stopPortfolio", { ...byId(portfolioId), ...options }),
  positions: (portfolioId: string, options?: CallOptions) => call("getPositions", { ...byId(portfolioId), ...options }),
  performance: (portfolioId: string, options?: CallOptions) =>
    call("getPortfolioPerformance", { ...byId(portfolioId), ...options }),
  policy: (portfolioId: string, options?: CallOptions) => call("getPolicy", { ...byId(portfolioId), ...options }),
  preview: (portfolioId: string, options?: CallOptions) =>
    call("previewRebalance", { ...byId(portfolioId), ...options }),
  rebalance: (portfolioId: string, { planHash, ...options }: { readonly planHash?: string } & CallOptions = {}) =>
    call("rebalancePortfolio", {
      ...byId(portfolioId),
      ...(planHash === undefined ? {} : { payload: { planHash } }),
      ...options
    })
})
