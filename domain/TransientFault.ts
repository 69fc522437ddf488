/**
 * Whether a defect is one of storage and not of the service: it was unreachable, or broke a statement off. The same may
 * succeed later, so it is a warning and no fault of ours. The layer of the storage decides; without it no defect counts
 * as one.
 */
import { Context } from "effect"

export const TransientFault = Context.Reference<(defect: unknown) => boolean>("ballast/domain/TransientFault", {
  defaultValue: () => () => false
})
