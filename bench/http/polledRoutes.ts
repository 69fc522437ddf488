/** The reads that integrators poll, each with the paths that the load generator draws from. */
import type { Paths } from "#bench/http/generator.ts"
import type { Seeded } from "#bench/http/seed.ts"

/** Strategies of a page; fewer than there are, so that a page has a cursor. */
const pageSize = 10

export interface PolledRoute {
  readonly name: string
  readonly paths: Paths
}

export const polledRoutes = ({ polled, portfolioIds }: Seeded): ReadonlyArray<PolledRoute> => [
  { name: "GET /v2/whoami", paths: ["/v2/whoami"] },
  { name: "GET /v2/portfolios/{id}", paths: portfolioIds.map((id) => `/v2/portfolios/${id}`) },
  {
    name: "GET /v2/portfolios/{id}/positions",
    paths: polled.map(({ portfolioId }) => `/v2/portfolios/${portfolioId}/positions`)
  },
  {
    name: "GET /v2/portfolios/{id}/operations/{id}",
    paths: polled.map(({ operationId, portfolioId }) => `/v2/portfolios/${portfolioId}/operations/${operationId}`)
  },
  { name: "GET /v2/strategies", paths: [`/v2/strategies?limit=${pageSize}`] }
]
