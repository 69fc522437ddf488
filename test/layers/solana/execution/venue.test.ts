import { assert, describe, it } from "@effect/vitest"
import { Keypair } from "@solana/web3.js"
import { Effect, Layer } from "effect"
import { chainIdOf, solanaChainId, spl } from "#domain/values/Caip.ts"
import { StepJournal } from "#domain/relay/StepJournal.ts"
import { ChainExecution } from "#domain/trading/ChainExecution.ts"
import { priceLeg } from "#domain/trading/priceLegs.ts"
import { swapResult } from "#domain/trading/swapResult.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { SolanaExecutionLive } from "#layers/solana/execution/SolanaExecutionLive.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { type BuiltSwap, JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { baseUsdc } from "#test/support/assets.ts"

const usdc = spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
const sol = spl("So11111111111111111111111111111111111111112")

/** Jupiter gives a unit less for each thousand. */
const jupiter = Layer.mock(JupiterClient, {
  build: ({ amountRaw }) =>
    Effect.succeed({ outAmount: (amountRaw - amountRaw / 1_000n).toString() } as unknown as BuiltSwap)
})

const signing = {
  agent: { key: Keypair.generate().publicKey } as Agent,
  fees: { percentile: 75, maxPriorityLamports: 0n }
}

/** Other chains are traded on pools that keep 0.42 percent. */
const venues = SolanaExecutionLive.pipe(
  Layer.provide([
    Layer.mock(Venue, { assumedFeeBps: () => 42, quote: () => Effect.succeed([]) }),
    Layer.mock(ChainExecution, {}),
    Layer.mock(SolanaAgent, { signing: Effect.succeed(signing) }),
    Layer.mock(SolanaRpc, { each: [] }),
    Layer.mock(StepJournal, {}),
    Layer.mock(UnrecordedTransactions, {}),
    jupiter
  ])
)

describe("The venue of Solana", () => {
  it.effect("is Jupiter, which does not say what the pools keep of a swap", () =>
    Effect.gen(function* () {
      const venue = yield* Venue
      const [quote] = yield* venue.quote({
        chainId: solanaChainId,
        connectorTokens: [],
        requests: [{ sell: usdc, buy: sol, sellAmountRaw: 1_000_000n }]
      })
      const leg = { sell: usdc, buy: sol, sellAmountRaw: 1_000_000n, valueUsd: 1n, expectedBuyRaw: 999_000n }
      const swap = yield* Effect.fromResult(priceLeg(leg, quote!, { slippageBps: 50, priceImpactBps: 100 }))
      const { by, feeRaw } = swapResult(swap, null)
      assert.deepStrictEqual({ by, feeRaw }, { by: "jupiter", feeRaw: null })
    }).pipe(Effect.provide(venues))
  )

  it.effect("leaves to the others what they take a swap on their chains to cost", () =>
    Effect.gen(function* () {
      const { assumedFeeBps } = yield* Venue
      assert.strictEqual(assumedFeeBps(chainIdOf(baseUsdc.assetId)), 42)
      assert.strictEqual(assumedFeeBps(solanaChainId), 30)
    }).pipe(Effect.provide(venues))
  )
})
