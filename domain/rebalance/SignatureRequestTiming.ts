/** How far the looks of a run that waits for its owner are apart. Tests make it shorter. */
import { Context, Duration } from "effect"

export const SignatureRequestTiming = Context.Reference("ballast/domain/rebalance/SignatureRequestTiming", {
  defaultValue: () => ({
    /**
     * The first pause; each is twice the one before, so who signs within a minute sees the run go on within seconds.
     */
    first: Duration.seconds(5),
    most: Duration.minutes(10)
  })
})
