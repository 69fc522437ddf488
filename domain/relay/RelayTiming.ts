/** How long the relay waits for a chain before it does something about it. Tests make it shorter. */
import { Context, Duration } from "effect"

export const RelayTiming = Context.Reference("ballast/domain/relay/RelayTiming", {
  defaultValue: () => ({
    /** How long one search for a receipt lasts. A transaction that is at least this old is then replaced. */
    searchFor: Duration.seconds(45),
    /** The pause between two searches. */
    searchInterval: Duration.seconds(15),
    /** How long a transaction waits for cheaper gas, when the market asks more than it may cost. */
    holdFor: Duration.minutes(5)
  })
})
