/** The reads that integrators poll, of the service against the same routes in Fastify 5 with pg, on the same rows. */
import { Console, Effect } from "effect"
import { poolSize } from "#bench/http/benchDatabase.ts"
import type { Generator, Paths } from "#bench/http/generator.ts"
import { report } from "#bench/http/report.ts"
import { measureRounds, type Rounds } from "#bench/http/rounds.ts"
import { requireSameAnswers } from "#bench/http/sameAnswers.ts"
import type { Seeded } from "#bench/http/seed.ts"
import { type Server, startPeer } from "#bench/http/Server.ts"

/** Strategies of a page; fewer than there are, so that a page has a cursor. */
const pageSize = 10

interface PolledRoute {
  readonly name: string
  readonly paths: Paths
}

/** The reads that integrators poll, each with the paths that the load generator draws from. */
const polledRoutes = ({ polled, portfolioIds }: Seeded): ReadonlyArray<PolledRoute> => [
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

/** Seconds for which domain/identity/ApiKeys.ts caches a key. */
const cacheKeySeconds = 5
/** Paths of each route whose answers are compared. */
const compared = 20

const mixRounds: Rounds = { rounds: 8, seconds: 2, warmUpSeconds: 4 }
const routeRounds: Rounds = { rounds: 6, seconds: 1, warmUpSeconds: 1 }

/** Fastify as it asks for the key at each request, and as it caches the key like the service. */
export const startPeers = Effect.fnUntraced(function* (database: string, pepper: string, upstream: string) {
  const start = (name: string, rememberKeyForSeconds: number) =>
    startPeer(name, "fastify.ts", { database, poolSize, pepper, rememberKeyForSeconds, upstream })
  return [yield* start("Fastify + pg", 0), yield* start("Fastify + pg, key cached", cacheKeySeconds)] as const
})

/** Fails when a peer answers any route otherwise than the service. */
export const requireSameReads = Effect.fnUntraced(function* (
  service: Server,
  peers: ReadonlyArray<Server>,
  seeded: Seeded
) {
  const paths = polledRoutes(seeded).flatMap((route) => route.paths.slice(0, compared))
  yield* requireSameAnswers({ service, peers }, paths, seeded.secret)
})

export const readsComparison = Effect.fn("readsComparison")(function* (options: {
  readonly database: string
  readonly upstream: string
  readonly seeded: Seeded
  readonly service: Server
  readonly generator: Generator
}) {
  const { database, generator, seeded, service, upstream } = options
  const peers = yield* startPeers(database, seeded.pepper, upstream)
  yield* requireSameReads(service, peers, seeded)

  const measure = Effect.fnUntraced(function* (title: string, routes: ReadonlyArray<Paths>, rounds: Rounds) {
    const [first, ...others] = yield* measureRounds(generator, { servers: [service, ...peers], routes }, rounds)
    yield* Console.log(report(title, rounds, [first!, ...others]))
  })
  const routes = polledRoutes(seeded)
  const all = routes.map(({ paths }) => paths)
  // The mix comes last, when every server has run each of its routes for a while.
  for (const { name, paths } of routes) yield* measure(name, [paths], routeRounds)
  yield* measure(`The mix of ${routes.length} reads, each a ${routes.length}th of the requests`, all, mixRounds)
}, Effect.scoped)
