/**
 * Trading on Solana behind the ports of the domain: each wraps Solana's part around a layer that serves the chains
 * of other families, and leaves the rest to it.
 */
import { Effect, Layer } from "effect"
import { type ChainId, namespaceOfChain } from "#domain/values/Caip.ts"
import { StepCarrier } from "#domain/relay/StepCarrier.ts"
import type { StepJournal } from "#domain/relay/StepJournal.ts"
import { ChainExecution } from "#domain/trading/ChainExecution.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { carryStep } from "#layers/solana/execution/carryStep.ts"
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
  ChainExecution,
  Effect.gen(function* () {
    const others = yield* ChainExecution
    const context = yield* adapters
    const here = ChainExecution.preparedBy((batch) => Effect.provideContext(prepareSwaps(batch), context))
    const executionOn = (chainId: ChainId) => (namespaceOfChain(chainId) === "solana" ? here : others)
    return ChainExecution.of({
      prepare: (batch) => executionOn(batch.chainId).prepare(batch),
      prepareForRun: (batch) => executionOn(batch.chainId).prepareForRun(batch)
    })
  })
)

const carrier = Layer.effect(
  StepCarrier,
  Effect.gen(function* () {
    const context = yield* Effect.context<
      SolanaAgent | SolanaRpc | JupiterClient | StepJournal | UnrecordedTransactions
    >()
    return {
      carry: (attempt, prepared, step) => Effect.provideContext(carryStep(attempt, prepared, step), context)
    }
  })
)

/** Venue, ChainExecution and StepCarrier; the first two of other families are what it is given. */
export const SolanaExecutionLive = Layer.mergeAll(venue, execution, carrier)
