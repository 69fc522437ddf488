/** `GET /v2/portfolios/{id}` of the service against the same route in Fastify 5 with pg, on the same rows. */
import { Console, Effect } from "effect"
import { poolSize } from "#bench/http/benchDatabase.ts"
import type { Generator } from "#bench/http/generator.ts"
import { report } from "#bench/http/report.ts"
import { measureRounds } from "#bench/http/rounds.ts"
import { requireSameAnswers } from "#bench/http/sameAnswers.ts"
import type { Seeded } from "#bench/http/seed.ts"
import { type Server, startPeer } from "#bench/http/Server.ts"

const target = 1
/** As long as domain/identity/ApiKeys.ts remembers a key. */
const rememberKeySeconds = 5
const compared = 20

export const portfolioComparison = Effect.fn("portfolioComparison")(function* (options: {
  readonly database: string
  readonly seeded: Seeded
  readonly service: Server
  readonly generator: Generator
}) {
  const { database, generator, seeded, service } = options
  const { pepper, portfolioIds, secret } = seeded
  const startFastify = (name: string, rememberKeyForSeconds: number) =>
    startPeer(name, "fastify.ts", { database, poolSize, pepper, rememberKeyForSeconds })

  const peers = [
    yield* startFastify("Fastify + pg", 0),
    yield* startFastify("Fastify + pg, key remembered", rememberKeySeconds)
  ]
  const paths = portfolioIds.map((portfolioId) => `/v2/portfolios/${portfolioId}`)
  yield* requireSameAnswers(service, peers, paths.slice(0, compared), secret)
  const [measured, ...measuredPeers] = yield* measureRounds(generator, [service, ...peers], {
    paths,
    isSleepless: false
  })
  const title = `GET /v2/portfolios/{id}, ${portfolioIds.length} portfolios, pools of ${poolSize}`
  yield* Console.log(report(title, target, measured!, measuredPeers))
}, Effect.scoped)
