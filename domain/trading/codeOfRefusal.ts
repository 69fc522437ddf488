/** The code of what was not done because the chain refused it in simulation. */
import { SkipCode } from "#domain/values/Skip.ts"
import type { MarketFault, SimulationFailed } from "#domain/trading/SwapBatches.ts"

/** Faults of the chain's prices, which pass by themselves. */
const codes: Readonly<Record<MarketFault, SkipCode>> = {
  feed_stale: SkipCode.feedStale,
  sequencer_down: SkipCode.sequencerDown
}

export const codeOfRefusal = ({ marketFault }: SimulationFailed): SkipCode =>
  marketFault === undefined ? SkipCode.simulationFailed : codes[marketFault]
