/**
 * Rebalances a second over the real path: portfolios that are all due at once, real accounts under the guard, real
 * pools and feeds on anvil, against the same operations bundled by hand and sent by a bare script in the same run.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`). `npm run bench -- chain 100` takes 100 portfolios instead of 500,
 * and `npm run bench -- chain 500 150` a key service that answers the relayer after 150 milliseconds.
 */
import { Console, Effect, Layer } from "effect"
import { parseEther } from "viem"
import { countedRequests } from "#bench/chain/countedRequests.ts"
import { enlist, fund } from "#bench/chain/fleet.ts"
import { keyService } from "#bench/chain/keyService.ts"
import { bareRound, ourRound, type Round } from "#bench/chain/rounds.ts"
import { localRelayer, relayerKey, serviceOn, submitters } from "#bench/chain/world.ts"
import { benchDatabase } from "#bench/http/benchDatabase.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"
import { setEther, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { setPrice } from "#sandbox/chain/Market.ts"

const later = 9

/** `script` is the bare script, with the time that it took to quote, simulate and sign its operations. */
interface Rounds {
  readonly name: string
  readonly ours: Round
  readonly bare: Round
  readonly script: Round
}

const line = (name: string, { cpu, gas, perSecond, perTransaction, requests }: Round) => {
  const seconds = [cpu.own, cpu.chain, cpu.database].map((each) => each.toFixed(1)).join(" + ")
  return `| ${name} | ${perSecond.toFixed(1)} | ${gas.toFixed(0)} | ${requests.toFixed(2)} | ${perTransaction.toFixed(1)} | ${seconds} |`
}

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const program = Effect.gen(function* () {
  const count = Number(process.argv[3] ?? 500)
  const chain = yield* startChain({ chainId: 8453, blockTimeMillis: 2_000 })
  for (const address of submitters) yield* setEther(chain, address, parseEther("100000"))
  const counted = yield* countedRequests(chain.rpcUrl)
  const keyMillis = Number(process.argv[4] ?? 0)
  const relayer = keyMillis > 0 ? yield* keyService(relayerKey, keyMillis) : localRelayer
  const place = { rpcUrls: [counted.url] as const, database: yield* benchDatabase, relayer }
  const service = yield* Layer.build(serviceOn(chain, place))
  yield* Effect.gen(function* () {
    const portfolios = yield* enlist(chain, count, true)
    const accounts = yield* enlist(chain, count, false)
    const weth = tokenBySymbol(chain, "WETH")
    const rounds: Array<Rounds> = []
    for (const name of ["first", ...Array.from({ length: later }, (_, index) => `later ${index + 1}`)]) {
      yield* Console.log(`Round: ${name}`)
      yield* fund(chain, [...portfolios, ...accounts])
      yield* setPrice(chain, weth, { priceUsd: weth.initialPriceUsd })
      const ours = yield* ourRound({ chain, counted }, count, "runs completed")
      yield* Console.log(`  requests: ${[...counted.counts].map(([method, times]) => `${method} ${times}`).join(", ")}`)
      yield* setPrice(chain, weth, { priceUsd: weth.initialPriceUsd })
      const { prepareSeconds, round: bare } = yield* bareRound({ chain, counted }, accounts)
      const script = { ...bare, perSecond: count / (count / bare.perSecond + prepareSeconds) }
      rounds.push({ name, ours, bare, script })
    }
    const [first, ...others] = rounds
    const rate = median(others.map(({ ours }) => ours.perSecond))
    const ratio = (peer: "bare" | "script") => median(others.map((each) => each.ours.perSecond / each[peer].perSecond))
    yield* Console.log(
      [
        "",
        `| ${count} portfolios due at once | a second | gas each | requests each | operations a transaction | CPU s of this process + chain + database |`,
        "| --- | --- | --- | --- | --- | --- |",
        ...[first!, ...others].flatMap(({ bare, name, ours, script }) => [
          line(`Ballast, ${name}`, ours),
          line(`bare script, ${name}`, bare),
          `| bare script with preparing, ${name} | ${script.perSecond.toFixed(1)} | | | | |`
        ]),
        "",
        `Later rebalances: ${rate.toFixed(1)} a second (target 60), ${ratio("bare").toFixed(2)} of the bare script (target 0.60), ${ratio("script").toFixed(2)} of one that prepares its operations too`
      ].join("\n")
    )
  }).pipe(Effect.provideContext(service))
})

export const run = (): Promise<void> => runUntilSignal(program)
