/** `GET /v2/whoami` of the service against a node:http server that sends the same bytes and checks nothing. */
import { Console, Effect } from "effect"
import type { Generator } from "#bench/http/generator.ts"
import { report } from "#bench/http/report.ts"
import { measureRounds } from "#bench/http/rounds.ts"
import { bodyOf, requireSameAnswers } from "#bench/http/sameAnswers.ts"
import type { Seeded } from "#bench/http/seed.ts"
import { type Server, startPeer } from "#bench/http/Server.ts"

const target = 0.55
const path = "/v2/whoami"

export const whoamiComparison = Effect.fn("whoamiComparison")(function* (options: {
  readonly seeded: Seeded
  readonly service: Server
  readonly generator: Generator
}) {
  const { generator, seeded, service } = options
  const body = yield* bodyOf(service, path, seeded.secret)
  const bare = yield* startPeer("bare node:http", "bare.ts", { body })
  yield* requireSameAnswers(service, [bare], [path], seeded.secret)
  const [measured, ...peers] = yield* measureRounds(generator, [service, bare], { paths: [path], isSleepless: true })
  yield* Console.log(report(`GET ${path}`, target, measured!, peers))
}, Effect.scoped)
