/** How procedures that answer a stream are defined. */
import { Context } from "effect"

/** What a value of the stream is as a frame of server-sent events. */
export interface FrameNames {
  /** A client that has it resumes after it. */
  readonly id?: string
  readonly event?: string
}

/** Annotation of a streaming procedure: the interface's wire answers it as server-sent events. */
export const FrameOf = Context.Reference<(value: unknown) => FrameNames>("ballast/rpc/FrameOf", {
  defaultValue: () => () => ({})
})
