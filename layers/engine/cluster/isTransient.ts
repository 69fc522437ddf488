/**
 * Whether a run met a fault of the database, which is no fault of the run: it goes on when that is over.
 */
import { Cause } from "effect"
import { isTransientFault } from "#layers/sql/isDatabaseFault.ts"

export const isTransient = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => {
    if (Cause.isDieReason(reason)) return isTransientFault(reason.defect)
    return Cause.isFailReason(reason) && isTransientFault(reason.error)
  })
