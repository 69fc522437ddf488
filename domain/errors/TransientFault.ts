/**
 * Whether a defect is one of storage and not of the service: it was unreachable, or broke a statement off. The same may
 * succeed later, so it is a warning and no fault of ours. The layer of the storage decides; without it no defect counts
 * as one.
 */
import { Cause, Context } from "effect"
import { Unavailable } from "#domain/errors/Errors.ts"

export const TransientFault = Context.Reference<(defect: unknown) => boolean>("ballast/domain/TransientFault", {
  defaultValue: () => () => false
})

/** What every wire answers when storage is away: the same may be sent again. */
export const databaseAway = () =>
  new Unavailable({ message: "The service cannot reach its database right now; send the same request again" })

/** True when a cause has defects, and each of them is one of storage. */
export const isOfStorage = ({ reasons }: Cause.Cause<unknown>, isTransient: typeof TransientFault.Service): boolean => {
  const faults = reasons.filter(Cause.isDieReason)
  return faults.length > 0 && faults.every(({ defect }) => isTransient(defect))
}
