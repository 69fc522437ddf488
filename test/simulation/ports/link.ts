/**
 * The line between a process and what is outside of it: a call takes time, may fail before or after it took effect, and
 * the process may die on either side of it.
 */
import { Effect } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Chain } from "#test/simulation/world/Chain.ts"
import type { World } from "#test/simulation/world/World.ts"

/** A call takes its time. */
export const wait = (world: World) =>
  Effect.suspend(() =>
    world.random.chance(world.faults.slow)
      ? Effect.sleep(world.random.between(100, 8_000))
      : world.random.chance(0.3)
        ? Effect.sleep(world.random.between(1, 80))
        : Effect.yieldNow
  )

/** Reads from a chain or sends it something. */
export const onChain = <A>(
  world: World,
  chainId: ChainId,
  call: (chain: Chain) => A
): Effect.Effect<A, ChainUnavailable> =>
  Effect.gen(function* () {
    const chain = world.chain(chainId)
    const fail = (reason: string) =>
      Effect.sync(() => world.trace.note(`fault: chain ${chainId} ${reason}`)).pipe(
        Effect.andThen(Effect.fail(new ChainUnavailable({ chainId, reason })))
      )
    yield* wait(world)
    if (world.harness.now < chain.downUntil) return yield* fail("is down")
    if (world.random.chance(world.faults.unreachable)) return yield* fail("does not answer")
    const answer = call(chain)
    yield* wait(world)
    if (world.random.chance(world.faults.unreachable / 2)) return yield* fail("was asked and its answer is lost")
    return answer
  })

/** The block that a node shows as the latest; one of them may lag, or all of them for a while. */
export const shownHead = (world: World, chain: Chain): number => {
  const head = world.harness.now < chain.lagUntil ? chain.head() - chain.lag : chain.head()
  return world.random.chance(world.faults.stale) ? head - world.random.between(1, 4) : head
}

/** Reads how far logs may be searched, which nodes refuse for a while. */
export const searched = (world: World, chain: Chain): number | ChainUnavailable => {
  if (world.harness.now >= chain.logsRefusedUntil) return shownHead(world, chain)
  world.trace.note("fault: a search of logs is refused")
  return new ChainUnavailable({ chainId: chain.chainId, reason: "the node refuses to search logs" })
}

/** Asks somebody who is no chain; false when there is no answer. */
export const asks = (world: World, downUntil: number): Effect.Effect<boolean> =>
  Effect.map(wait(world), () => world.harness.now >= downUntil && !world.random.chance(world.faults.unreachable))
