/**
 * Solana portfolios that are all due at once, over the real path: engine, scheduler, stores, adapter, wallets of the
 * emulated Swig program, routes of a stand-in of Jupiter. Beside it the same swaps by a bare script, without a
 * database, in the same run.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`). `npm run bench -- solana 50` takes 50 portfolios instead of 100.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Console, DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { NoIssuer } from "#bench/engine/noIssuer.ts"
import { benchSettings } from "#bench/engine/settings.ts"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"
import { enlist, fund, halves, tenDollars, type Member } from "#bench/solana/fleet.ts"
import { type SolanaChain, startSolanaChain } from "#bench/solana/solanaChain.ts"
import { BrandName } from "#domain/values/BrandName.ts"
import { BalancesOnce } from "#domain/asset/BalancesOnce.ts"
import { CurrentBalances } from "#domain/chain/CurrentBalances.ts"
import { Prices } from "#domain/market/Prices.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import { awaitOutcome } from "#layers/solana/lifecycle/executeAttempts.ts"
import { signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { SolanaClients, SolanaLive } from "#layers/solana/SolanaLive.ts"
import { readMints } from "#layers/solana/token/readMints.ts"
import { prepareSwap } from "#layers/solana/trading/prepareSwap.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { splCatalog } from "#sandbox/assets/splCatalog.ts"
import { PublicKey } from "@solana/web3.js"

const later = 2
const scriptConcurrency = 32
const agentSeed = new Uint8Array(32).fill(11)
const agentLamports = 1_000_000_000_000n

const prices = Layer.succeed(Prices, {
  latest: (assetIds) =>
    Effect.map(DateTime.now, (asOf) => {
      const known = new Map<string, bigint>(
        splCatalog.map(({ assetId, initialPriceUsd }) => [assetId, initialPriceUsd])
      )
      return new Map(assetIds.flatMap((id) => (known.has(id) ? [[id, { usd: known.get(id)!, asOf }] as const] : [])))
    })
})

const unused = Effect.die(new Error("Nothing is routed here"))
const noRouting = Layer.succeed(Routing, {
  quote: () => unused,
  status: () => unused,
  swapQuotes: () => unused,
  swapCall: () => unused
})

const serviceOn = ({ url }: SolanaChain, database: string) => {
  const configuration = Layer.succeed(SolanaConfig, {
    rpcUrls: [Redacted.make(url)],
    agentSeed: Redacted.make(agentSeed),
    fees: { percentile: 75, maxPriorityLamports: 1_000_000n },
    jupiter: { baseUrl: url, apiKey: null, requestsPerSecond: 10_000 }
  })
  const agent = { kind: "local", key: Redacted.make(`0x${"01".repeat(32)}`) } as const
  const evm = EvmLive.pipe(
    Layer.provide([NoAttestor, Layer.succeed(EvmConfig, { chains: [], agent, relayers: [agent] })])
  )
  return Scheduler.layer.pipe(
    Layer.provideMerge(EngineLive),
    Layer.provideMerge(BalancesOnce),
    Layer.provideMerge(CurrentBalances),
    Layer.provideMerge(
      SolanaLive.pipe(
        Layer.provideMerge(
          Layer.mergeAll(evm, NoIssuer, noRouting, prices, FamiliesLive, Layer.succeed(BrandName, "Ballast"))
        ),
        Layer.provideMerge(SolanaClients),
        Layer.provide(configuration)
      )
    ),
    Layer.provideMerge(SqlLive),
    Layer.provideMerge(Layer.mergeAll(databaseLayer(database), benchSettings())),
    Layer.provideMerge(Layer.mergeAll(NodeCrypto.layer, SecureRandom.layerWebCrypto))
  )
}

interface Round {
  readonly perSecond: number
  readonly requests: number
  readonly cpuSeconds: number
  /** How many swaps were made; what a starved chain does not answer in time is left to a later run. */
  readonly traded: number
}

const measured = Effect.fnUntraced(function* <E, R>(
  { counts }: SolanaChain,
  count: number,
  work: Effect.Effect<void, E, R>
) {
  counts.clear()
  const before = process.cpuUsage()
  const [took] = yield* Effect.timed(work)
  const { system, user } = process.cpuUsage(before)
  const requests = [...counts.values()].reduce((sum, times) => sum + times, 0)
  return {
    perSecond: count / Duration.toSeconds(took),
    requests: requests / count,
    cpuSeconds: (system + user) / 1e6,
    traded: count
  } satisfies Round
})

const ended = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Record<"completed" | "ended" | "open", number>>`
    SELECT (SELECT count(*)::int FROM workflow_messages WHERE finished_at IS NULL) AS open,
      count(*) FILTER (WHERE finished_at IS NOT NULL)::int AS ended,
      count(*) FILTER (WHERE state = 'completed' AND outcome = 'traded')::int AS completed FROM operations`
  return row!
})

/** All portfolios are due at once; done when each has traded. */
const ourRound = Effect.fnUntraced(function* (chain: SolanaChain, count: number) {
  const before = yield* ended
  const sql = yield* SqlClient.SqlClient
  const scheduler = yield* Scheduler
  const work = Effect.gen(function* () {
    yield* sql`UPDATE schedules SET due_at = timestamptz '2026-01-01T00:00:00Z'`
    for (;;) {
      const { ended: all, open } = yield* ended
      if (open === 0 && all - before.ended >= count) return
      if (all - before.ended < count) yield* scheduler.tick
      yield* Effect.sleep("50 millis")
    }
  })
  const round = yield* measured(chain, count, work)
  const { completed } = yield* ended
  return { ...round, traded: completed - before.completed }
})

/** Builds, checks, simulates, signs and sends the same swaps, and waits until each is confirmed. */
const bareRound = Effect.fnUntraced(function* (chain: SolanaChain, members: ReadonlyArray<Member>) {
  const { agent, fees } = yield* (yield* SolanaAgent).signing
  const [sell, buy] = halves as [(typeof halves)[number], (typeof halves)[number]]
  const swap = Effect.fnUntraced(function* (place: Member) {
    const mints = yield* readMints([sell.assetId, buy.assetId])
    const leg = {
      sell: mints.get(sell.assetId)!,
      buy: mints.get(buy.assetId)!,
      sellRaw: tenDollars / 2n,
      minBuyRaw: 1n
    }
    const prepared = yield* prepareSwap({ place, leg, slippageBps: 50, agent, fees })
    const attempt = yield* signedByAgent(agent, prepared)
    const outcome = yield* awaitOutcome(attempt, {
      commitment: "confirmed",
      resendEvery: Duration.millis(400),
      waitAtMost: Duration.minutes(1)
    })
    if (outcome._tag !== "Landed") return yield* Effect.die(new Error(`A swap ended as ${JSON.stringify(outcome)}`))
  })
  return yield* measured(
    chain,
    members.length,
    Effect.asVoid(Effect.forEach(members, swap, { concurrency: scriptConcurrency, discard: true }))
  )
})

const line = (name: string, { cpuSeconds, perSecond, requests, traded }: Round) =>
  `| ${name} | ${perSecond.toFixed(1)} | ${traded} | ${requests.toFixed(1)} | ${cpuSeconds.toFixed(1)} |`

const program = Effect.gen(function* () {
  const count = Number(process.argv[3] ?? 100)
  const chain = yield* startSolanaChain
  chain.ledger.airdrop(new PublicKey(Ed25519.publicKeyOf(agentSeed)), agentLamports)
  const service = yield* Layer.build(serviceOn(chain, yield* benchDatabase))
  yield* Effect.gen(function* () {
    const portfolios = yield* enlist(count, true)
    const wallets = yield* enlist(count, false)
    const lines: Array<string> = []
    for (const name of ["first", ...Array.from({ length: later }, (_, index) => `later ${index + 1}`)]) {
      yield* Console.log(`Round: ${name}`)
      yield* fund(chain, [...portfolios, ...wallets])
      chain.restorePools()
      lines.push(line(`Ballast, ${name}`, yield* ourRound(chain, count)))
      yield* Console.log(`  requests: ${[...chain.counts].map(([method, times]) => `${method} ${times}`).join(", ")}`)
      chain.restorePools()
      lines.push(line(`bare script, ${name}`, yield* bareRound(chain, wallets)))
      yield* Console.log(`  requests: ${[...chain.counts].map(([method, times]) => `${method} ${times}`).join(", ")}`)
    }
    yield* Console.log(
      [
        "",
        `| ${count} portfolios due at once, one swap each | steps a second | traded | requests a portfolio | CPU s, chain included |`,
        "| --- | --- | --- | --- | --- |",
        ...lines
      ].join("\n")
    )
  }).pipe(Effect.provideContext(service))
})

export const run = (): Promise<void> => runUntilSignal(program)
