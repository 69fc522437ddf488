import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startPeer } from "#bench/http/Server.ts"
import { requireSameAnswers } from "#bench/http/sameAnswers.ts"
import { requireSameReads, startPeers } from "#bench/http/readsComparison.ts"
import { seed } from "#bench/http/seed.ts"
import { startService, upstreamSettings } from "#bench/http/service.ts"
import { newServerDatabase } from "#test/support/database.ts"

const settings = { timeout: 240_000 }

describe("the benchmark of reads", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live(
    "compares the service with peers that answer every route of the mix with the same bytes",
    () =>
      Effect.gen(function* () {
        const database = yield* newDatabase
        const seeded = yield* seed(database, { portfolios: 3, polled: 2 })
        const { baseUrl: upstream } = yield* startPeer("Chains and prices", "upstream.ts", {})
        const service = yield* startService(database, seeded.pepper, upstreamSettings(upstream))
        const peers = yield* startPeers(database, seeded.pepper, upstream)
        yield* requireSameReads(service, peers, seeded)

        const path = "/v2/strategies?limit=7"
        const [other] = yield* startPeers(yield* newDatabase, seeded.pepper, upstream)
        const failed = yield* Effect.exit(requireSameAnswers({ service, peers: [other] }, [path], seeded.secret))
        assert.strictEqual(failed._tag, "Failure")
      }).pipe(Effect.scoped),
    settings
  )
})
