/**
 * What spans are about, by names that are the same wherever they stand: who searches for an operation, a transaction or
 * a chain in traces finds all that was done for it.
 */
import { Effect } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { OperationId } from "#domain/values/Ids.ts"

interface About {
  readonly operationId?: OperationId
  readonly chainId?: ChainId
  /** 32 bytes in hex; on Solana its first signature. */
  readonly txHash?: string
}

const attributesOf = ({ chainId, operationId, txHash }: About) => ({
  ...(operationId === undefined ? {} : { "operation.id": operationId }),
  ...(chainId === undefined ? {} : { "chain.id": chainId }),
  ...(txHash === undefined ? {} : { "transaction.hash": txHash })
})

/** The span that is open here is about these. */
export const spanIsAbout = (about: About): Effect.Effect<void> => Effect.annotateCurrentSpan(attributesOf(about))

/** All spans that begin in an effect are about these. */
export const spansAreAbout =
  (about: About) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.annotateSpans(effect, attributesOf(about))
