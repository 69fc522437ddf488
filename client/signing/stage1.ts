/** What stage 1 of an enrollment, an activation or a renewal answers. */
import type { DataOf } from "#client/plain/Call.ts"

/** The answer, from which the owner's signature is made. */
export type Stage1 = DataOf<"prepareEnrollment">

/** What the message is computed from. */
export type SignedParts = NonNullable<Stage1["authorization"]>

/** The part of one chain. */
export type SignedChain = SignedParts["chains"][number]
