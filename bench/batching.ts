/**
 * Writes of many fibers that share statements: by `batched`, and by Effect's `RequestResolver`, which collects for as
 * long as its delay says. Each fiber writes one row after the other and waits until it is committed; where fibers think
 * between two writes, they come one by one instead of all at once.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 */
import { Console, Duration, Effect, Exit, Layer, Request, RequestResolver, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { spreadOf, spreadOfRatios } from "#bench/http/spread.ts"
import { spreadHeading, spreadLine } from "#bench/engine/spreadLine.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"
import { batched } from "#domain/effects/batched.ts"

const rounds = 5
/** Most that `batched` takes at once. */
const maxBatch = 256

interface Load {
  readonly fibers: number
  readonly writes: number
  /** Most milliseconds between two writes of a fiber. */
  readonly thinks: number
}

const loads: ReadonlyArray<Load> = [
  { fibers: 1, writes: 200, thinks: 0 },
  { fibers: 500, writes: 20, thinks: 0 },
  { fibers: 50, writes: 50, thinks: 20 },
  { fibers: 500, writes: 20, thinks: 50 }
]

interface Write extends Request.Request<number> {
  readonly _tag: "Write"
  readonly id: number
}
const Write = Request.tagged<Write>("Write")

type Ask = (id: number) => Effect.Effect<number>

/** What each way is asked with, and how many statements it has made. */
const ways = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE batching (id integer NOT NULL)`
  const write = (ids: ReadonlyArray<number>) =>
    Effect.orDie(sql`INSERT INTO batching SELECT * FROM unnest(${ids}::integer[])`)
  const resolver = (delay: Duration.Duration) =>
    RequestResolver.make<Write>((entries) =>
      Effect.map(write(entries.map(({ request }) => request.id)), () => {
        for (const entry of entries) entry.completeUnsafe(Exit.succeed(entry.request.id))
      })
    ).pipe(RequestResolver.setDelay(delay), RequestResolver.batchN(maxBatch))
  const resolved = (millis: number): Ask => {
    const by = resolver(Duration.millis(millis))
    return (id) => Effect.request(Write({ id }), by)
  }
  // Collects while a statement runs, as `batched` does.
  const turn = yield* Semaphore.make(1)
  const busy = RequestResolver.makeWith<Write>({
    batchKey: () => undefined,
    delay: turn.withPermits(1)(Effect.void),
    collectWhile: (entries) => entries.size < maxBatch,
    runAll: (entries) =>
      turn.withPermits(1)(
        Effect.map(write(entries.map(({ request }) => request.id)), () => {
          for (const entry of entries) entry.completeUnsafe(Exit.succeed(entry.request.id))
        })
      )
  })
  const own: Ask = yield* batched(String, (ids: ReadonlyArray<number>) => Effect.as(write(ids), (id: number) => id))
  return [
    { name: "batched", ask: own },
    { name: "RequestResolver, while busy", ask: (id: number) => Effect.request(Write({ id }), busy) },
    { name: "RequestResolver, without delay", ask: resolved(0) },
    { name: "RequestResolver, 1 ms", ask: resolved(1) },
    { name: "RequestResolver, 5 ms", ask: resolved(5) }
  ]
})

const writesASecond = Effect.fnUntraced(function* (ask: Ask, { fibers, thinks, writes }: Load) {
  const start = performance.now()
  // The same spread for every way.
  const think = (id: number) => (thinks === 0 ? Effect.void : Effect.sleep(Duration.millis((id * 7_919) % thinks)))
  yield* Effect.forEach(
    Array.from({ length: fibers }, (_, fiber) => fiber),
    (fiber) =>
      Effect.forEach(
        Array.from({ length: writes }, (_, at) => fiber * writes + at),
        (id) => Effect.andThen(think(id), ask(id)),
        { discard: true }
      ),
    { concurrency: "unbounded", discard: true }
  )
  return (fibers * writes * 1_000) / (performance.now() - start)
})

const program = Effect.gen(function* () {
  const context = yield* Layer.build(databaseLayer(yield* benchDatabase))
  const all = yield* Effect.provideContext(ways, context)
  for (const load of loads) {
    const rates = all.map((): Array<number> => [])
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, { ask }] of all.entries()) {
        const rate = yield* writesASecond(ask, load)
        // The first round warms up.
        if (round > 0) rates[index]!.push(rate)
      }
    }
    yield* Console.log(
      [
        "",
        `Committed writes a second of ${load.fibers} fibers that think up to ${load.thinks} ms; ${rounds} interleaved rounds of ${load.writes} each`,
        spreadHeading,
        ...all.map(({ name }, index) => spreadLine(name, spreadOf(rates[index]!))),
        ...all
          .slice(1)
          .map(({ name }, index) => spreadLine(`batched / ${name}`, spreadOfRatios(rates[0]!, rates[index + 1]!), 2))
      ].join("\n")
    )
  }
}).pipe(Effect.scoped)

export const run = (): Promise<void> => runUntilSignal(program)
