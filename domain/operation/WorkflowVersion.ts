/**
 * Says which version of a workflow its code is, and which runs it carries out.
 *
 * A run is begun under the current version and keeps that number. Steps may be added at the end of a body, and optional
 * fields to results, without another version. A change of the order or the meaning of stored steps raises `current`,
 * and leaves the previous number in `continues` only if the new body goes on with such runs. Runs of other versions
 * are left to processes that support them.
 */
import { Context } from "effect"

export interface WorkflowVersions {
  readonly current: number
  /** Includes the current one. */
  readonly continues: ReadonlyArray<number>
}

/** An annotation of workflows; the first version without it. */
export const WorkflowVersion = Context.Reference<WorkflowVersions>("ballast/domain/operation/WorkflowVersion", {
  defaultValue: () => ({ current: 1, continues: [1] })
})
