/** What trades report while Jupiter does not answer, and what goes on without it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spl } from "#domain/values/Caip.ts"
import { quoteSwaps } from "#layers/solana/execution/quoteSwaps.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { prepareSwap } from "#layers/solana/trading/prepareSwap.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import { fees } from "#test/layers/solana/owners.ts"
import { dollars, jup, swapWorld, tesla } from "#test/layers/solana/trading/swapWorld.ts"
import { startTestChain } from "#test/sandbox/solana/support.ts"

describe("without Jupiter", () => {
  const world = swapWorld((emulations = new Map()) => startTestChain({ emulations }))
  const [dollar, share, token] = [usdc, tesla, jup].map(({ mint }) => spl(mint.toBase58())) as [
    ReturnType<typeof spl>,
    ReturnType<typeof spl>,
    ReturnType<typeof spl>
  ]
  const quotes = (...buys: ReadonlyArray<typeof dollar>) =>
    quoteSwaps(buys.map((buy) => ({ sell: dollar, buy, sellAmountRaw: 1_000_000n }))).pipe(
      Effect.provide(
        Layer.succeed(SolanaAgent, SolanaAgent.of({ signing: Effect.succeed({ agent: world.agent, fees }) }))
      )
    )

  it.live("a chain without any quote is one that does not answer, in Jupiter's name, so that its runs wait", () =>
    world.run(
      Effect.gen(function* () {
        world.jupiter.change = () => undefined
        const failure = yield* Effect.flip(quotes(share, token))
        assert.strictEqual(failure._tag, "ChainUnavailable")
        assert.include(failure.reason, "Jupiter")
      })
    )
  )

  it.live("a pair that it does not answer about has no quote, and the others have theirs", () =>
    world.run(
      Effect.gen(function* () {
        world.jupiter.change = (built) => (built.outputMint === tesla.mint.toBase58() ? undefined : built)
        const [none, some] = yield* quotes(share, token)
        assert.isNull(none)
        assert.isTrue(some!.buyAmountRaw > 0n)
      })
    )
  )

  it.live("nothing is signed of a planned swap, and what is held is still read", () =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* world.funded
        world.jupiter.change = () => undefined
        const failure = yield* Effect.flip(prepareSwap(world.tradeOf(place)))
        assert.strictEqual(failure._tag, "ProviderUnavailable")
        const { tokens } = yield* readHoldings(deposit)
        assert.strictEqual(tokens.find(({ mint }) => mint.equals(usdc.mint))?.raw, dollars)
      })
    )
  )
})
