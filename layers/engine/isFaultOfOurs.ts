/** Whether a run died of a defect, so that it is given up. One that was interrupted, or met a fault of the database, goes on later. */
import { Cause } from "effect"
import { isPassing } from "#layers/engine/durable/isPassing.ts"

export const isFaultOfOurs = (cause: Cause.Cause<unknown>): boolean => !Cause.hasInterrupts(cause) && !isPassing(cause)
