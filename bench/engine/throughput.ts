/**
 * Durable rebalance runs a second beside the same number of chained jobs of two job queues, on one server, in turns.
 */
import { Console, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { fill, fillGrants } from "#bench/engine/fill.ts"
import { engine, ourRuns, stepsOfARun } from "#bench/engine/ourRuns.ts"
import { graphileWorker, type Peer, pgBoss } from "#bench/engine/queues.ts"
import { spreadHeading, spreadLine } from "#bench/engine/spreadLine.ts"
import { benchDatabase } from "#bench/http/benchDatabase.ts"
import { spreadOf, spreadOfRatios } from "#bench/http/spread.ts"

const rounds = 5
const runsOfARound = 400

export const throughput = Effect.gen(function* () {
  const database = yield* benchDatabase
  const ours = yield* Layer.build(engine(database))
  yield* Effect.provideContext(Effect.andThen(fill(4, runsOfARound), fillGrants(runsOfARound)), ours)
  const peers: ReadonlyArray<Peer> = [yield* graphileWorker(yield* benchDatabase), yield* pgBoss(yield* benchDatabase)]
  const own = (count: number) => Effect.provideContext(ourRuns(count), ours)

  yield* own(runsOfARound)
  const steps = yield* Effect.provideContext(stepsOfARun, ours)
  for (const peer of peers) yield* peer.run(runsOfARound / 4, steps)

  const rates: ReadonlyArray<Array<number>> = [[], ...peers.map(() => [])]
  for (let round = 0; round < rounds; round += 1) {
    rates[0]!.push(runsOfARound / (yield* own(runsOfARound)))
    for (const [index, peer] of peers.entries())
      rates[index + 1]!.push(runsOfARound / (yield* peer.run(runsOfARound, steps)))
  }
  const failed = yield* Effect.provideContext(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 FROM operations WHERE state <> 'completed'`),
    ours
  )
  // The peers' pools complain when their databases go; what they did is measured by then.
  process.on("uncaughtException", () => undefined)
  yield* Console.log(
    [
      "",
      `Durable runs of ${steps} stored steps; ${rounds} interleaved rounds of ${runsOfARound} runs`,
      spreadHeading,
      spreadLine("Ballast: runs/s", spreadOf(rates[0]!)),
      ...peers.map(({ name }, index) => spreadLine(`${name}: runs/s`, spreadOf(rates[index + 1]!))),
      ...peers.map(({ name }, index) =>
        spreadLine(`Ballast / ${name}`, spreadOfRatios(rates[0]!, rates[index + 1]!), 2)
      ),
      `  Runs that did not complete: ${failed.length}`,
      "  Target: a median ratio above 1.00 to both"
    ].join("\n")
  )
}).pipe(Effect.scoped)
