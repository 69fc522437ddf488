/**
 * Trading on Solana behind the ports of the domain: each wraps Solana's part around a layer that serves the chains
 * of other families, and leaves the rest to it.
 */
import { Effect, Layer } from "effect"
import { type ChainId, namespaceOfChain } from "#domain/values/Caip.ts"
import { PartRelay } from "#domain/relay/PartRelay.ts"
import type { PartJournal } from "#domain/relay/PartJournal.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { submitPart } from "#layers/solana/execution/submitPart.ts"
import { prepareSwaps } from "#layers/solana/execution/prepareSwaps.ts"
import { assumedFeeBps, quoteSwaps } from "#layers/solana/execution/quoteSwaps.ts"
import type { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import type { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import type { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import type { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"

const adapters = Effect.context<SolanaAgent | SolanaRpc | JupiterClient>()

const venue = Layer.effect(
  Venue,
  Effect.gen(function* () {
    const others = yield* Venue
    const context = yield* adapters
    return Venue.of({
      quote: (batch) =>
        namespaceOfChain(batch.chainId) === "solana"
          ? Effect.provideContext(quoteSwaps(batch.requests), context)
          : others.quote(batch),
      assumedFeeBps: (chainId) =>
        namespaceOfChain(chainId) === "solana" ? assumedFeeBps : others.assumedFeeBps(chainId)
    })
  })
)

const execution = Layer.effect(
  SwapBatches,
  Effect.gen(function* () {
    const others = yield* SwapBatches
    const context = yield* adapters
    const here = SwapBatches.preparedBy((batch) => Effect.provideContext(prepareSwaps(batch), context))
    const executionOn = (chainId: ChainId) => (namespaceOfChain(chainId) === "solana" ? here : others)
    return SwapBatches.of({
      prepare: (batch) => executionOn(batch.chainId).prepare(batch),
      prepareForRun: (batch) => executionOn(batch.chainId).prepareForRun(batch)
    })
  })
)

const partRelay = Layer.effect(
  PartRelay,
  Effect.gen(function* () {
    const context = yield* Effect.context<
      SolanaAgent | SolanaRpc | JupiterClient | PartJournal | UnrecordedTransactions
    >()
    return {
      submit: (attempt, prepared, step) => Effect.provideContext(submitPart(attempt, prepared, step), context)
    }
  })
)

/** Venue, SwapBatches and PartRelay; the first two of other families are what it is given. */
export const SolanaExecutionLive = Layer.mergeAll(venue, execution, partRelay)
