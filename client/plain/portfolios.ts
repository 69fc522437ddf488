/** Portfolios: what they hold, how they do, and their rebalances. */
import type { Call, CallOptions, FilterOf, PayloadOf } from "#client/plain/Call.ts"
import { pagesOf } from "#client/plain/pages.ts"

type Filter = FilterOf<"listPortfolios">
type Patch = PayloadOf<"updatePortfolio">

const byId = (portfolioId: string) => ({ params: { portfolioId } })

export const portfoliosOf = (call: Call) => ({
  list: (query: Filter = {}, options?: CallOptions) =>
    pagesOf(async (cursor) => {
      const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const { data, nextCursor } = await call.whole("listPortfolios", { query: page, ...options })
      return { items: data.portfolios, nextCursor }
    }),
  get: (portfolioId: string, options?: CallOptions) => call("getPortfolio", { ...byId(portfolioId), ...options }),
  update: (portfolioId: string, payload: Patch, options?: CallOptions) =>
    call("updatePortfolio", { ...byId(portfolioId), payload, ...options }),
  /** Resumes the schedule. */
  start: (portfolioId: string, options?: CallOptions) => call("startPortfolio", { ...byId(portfolioId), ...options }),
  /** Pauses the schedule. */
  stop: (portfolioId: string, options?: CallOptions) => call("stopPortfolio", { ...byId(portfolioId), ...options }),
  positions: (portfolioId: string, options?: CallOptions) => call("getPositions", { ...byId(portfolioId), ...options }),
  performance: (portfolioId: string, options?: CallOptions) =>
    call("getPortfolioPerformance", { ...byId(portfolioId), ...options }),
  /** What the agent may do on each chain, by the chains' word. */
  policy: (portfolioId: string, options?: CallOptions) => call("getPolicy", { ...byId(portfolioId), ...options }),
  /** What a rebalance would do now; nothing is traded. */
  preview: (portfolioId: string, options?: CallOptions) =>
    call("previewRebalance", { ...byId(portfolioId), ...options }),
  /** Starts a rebalance; with `planHash` only while its plan is still the previewed one. */
  rebalance: (portfolioId: string, { planHash, ...options }: { readonly planHash?: string } & CallOptions = {}) =>
    call("rebalancePortfolio", {
      ...byId(portfolioId),
      ...(planHash === undefined ? {} : { payload: { planHash } }),
      ...options
    })
})
