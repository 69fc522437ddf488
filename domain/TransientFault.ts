/**
 * Whether a defect says something of storage and nothing of the service: it was unreachable, or broke a statement off.
 * The same may succeed later, so it is a warning and no fault of ours. What keeps the storage says so; without it
 * nothing does.
 */
import { Context } from "effect"

export const TransientFault = Context.Reference<(defect: unknown) => boolean>("ballast/domain/TransientFault", {
  defaultValue: () => () => false
})
