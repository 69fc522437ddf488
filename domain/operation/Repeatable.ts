/**
 * Marks steps that may be done again, and whose results are therefore not stored.
 *
 * A crash after such a step makes the run do it again, also when it was done to the end. So what it writes must be
 * found by the next time, and the same answer must follow from that: a signature that is stored with its transaction,
 * an end that is written to the operation. A result after which the run sleeps is stored, or each wake would begin with
 * all earlier tries.
 */
import { Context } from "effect"

/** An annotation of such a step: which of its results are not stored. All results of other steps are. */
export const Repeatable = Context.Reference<(result: unknown) => boolean>("ballast/domain/operation/Repeatable", {
  defaultValue: () => () => false
})
