/**
 * What became of an attempt, by all endpoints together. None is trusted alone when there are several: an endpoint that
 * is silent has no say, and when two contradict each other nothing is concluded.
 *
 * An attempt has expired when a finalized block is higher than the last that may include it, and no status is found at
 * that slot or later in the whole history: then every block that could hold it is final and known. Heights are
 * compared, not slots, since slots are skipped. With several endpoints two must say so. A node that has forgotten the
 * blocks of then, as nodes do after days, has no say.
 */
import { Effect, Metric, Option, Result } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import type { Attempt } from "#layers/solana/lifecycle/Attempt.ts"
import type { Commitment, Requests, SignatureStatus } from "#layers/solana/rpc/Requests.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

export type Outcome =
  /** It took effect. */
  | { readonly _tag: "Landed"; readonly slot: bigint }
  /** A block holds it, its fee was paid, and it had no other effect. */
  | { readonly _tag: "Failed"; readonly slot: bigint; readonly error: unknown }
  /** No block holds it, and none will. */
  | { readonly _tag: "Expired" }
  | { readonly _tag: "Pending" }

/** What one endpoint shows. */
export interface Observation {
  /** Its latest finalized block, read before the status. */
  readonly finalized: { readonly slot: bigint; readonly height: bigint }
  readonly status: Option.Option<SignatureStatus>
  /** The slot at which the status was read. One address is often many nodes, of which some are behind. */
  readonly statusSlot: bigint
  /** The oldest slot of its history; left out where the status was found, or may still come. */
  readonly firstSlot?: bigint
}

/** Slots for each block, at most: fewer than half of them are skipped in the chain's worst hours. */
const slotsOfABlock = 2n
/** Blocks for which a blockhash is good. */
const validBlocks = 150n

/** The latest slot of which it is certain that it came before the attempt was signed. */
const slotBefore = ({ height, slot }: Observation["finalized"], lastValidBlockHeight: bigint): bigint => {
  const blocks = height - lastValidBlockHeight + validBlocks
  const slots = slotsOfABlock * blocks
  return slot > slots ? slot - slots : 0n
}

const pending: Outcome = { _tag: "Pending" }

const hasCommitment = ({ commitment }: SignatureStatus, wanted: Commitment): boolean =>
  commitment === "finalized" || commitment === wanted

const outcomeOf = ({ error, slot }: SignatureStatus): Outcome =>
  error === null ? { _tag: "Landed", slot } : { _tag: "Failed", slot, error }

/** The conclusion of what endpoints show. `endpoints`: how many there are, those that are silent included. */
export const conclude = (
  observations: ReadonlyArray<Observation>,
  {
    commitment,
    endpoints,
    lastValidBlockHeight
  }: {
    readonly commitment: Commitment
    readonly endpoints: number
    readonly lastValidBlockHeight: bigint
  }
): Outcome | "contradiction" => {
  const statuses = observations.flatMap(({ status }) => (Option.isSome(status) ? [status.value] : []))
  const known = statuses.filter((status) => hasCommitment(status, commitment))
  const [first] = known
  if (first !== undefined) {
    const differs = known.some(({ error }) => JSON.stringify(error) !== JSON.stringify(first.error))
    const misses = observations.some(
      ({ finalized, status, statusSlot }) =>
        Option.isNone(status) && finalized.slot >= first.slot && statusSlot >= finalized.slot
    )
    return differs || misses ? "contradiction" : outcomeOf(first)
  }
  if (statuses.length > 0) return pending
  const remembering = observations.filter(
    ({ finalized, firstSlot = 0n }) => firstSlot <= slotBefore(finalized, lastValidBlockHeight)
  )
  const witnesses = remembering.filter(
    ({ finalized, statusSlot }) => finalized.height > lastValidBlockHeight && statusSlot >= finalized.slot
  )
  const isExpired = witnesses.length === remembering.length && witnesses.length >= Math.min(2, endpoints)
  return isExpired && endpoints > 0 ? { _tag: "Expired" } : pending
}

const observeAt = Effect.fnUntraced(function* (
  endpoint: Requests,
  { lastValidBlockHeight, signature }: Attempt
): Effect.fn.Return<Observation, ChainUnavailable> {
  const finalized = yield* endpoint.position("finalized")
  const { slot, values } = yield* endpoint.statuses([signature])
  const observation = { finalized, status: values[0]!, statusSlot: slot }
  if (Option.isSome(observation.status) || finalized.height <= lastValidBlockHeight) return observation
  return { ...observation, firstSlot: yield* endpoint.firstSlot }
})

/** The outcome at the required commitment; fails when no endpoint answers, and when they contradict each other. */
export const observe = Effect.fn("solana.observe")(function* (
  attempt: Attempt,
  commitment: Commitment
): Effect.fn.Return<Outcome, ChainUnavailable, SolanaRpc> {
  const { each } = yield* SolanaRpc
  yield* spanIsAbout({ chainId: solanaChainId, txHash: attempt.signature })
  const results = yield* Effect.forEach(each, (endpoint) => Effect.result(observeAt(endpoint, attempt)), {
    concurrency: "unbounded"
  })
  const observations = results.filter(Result.isSuccess).map(({ success }) => success)
  if (observations.length === 0) {
    const failure = results.find(Result.isFailure)?.failure
    return yield* (
      failure ?? new ChainUnavailable({ chainId: solanaChainId, reason: "no RPC endpoint is configured for Solana" })
    )
  }
  const { lastValidBlockHeight } = attempt
  const outcome = conclude(observations, { commitment, endpoints: each.length, lastValidBlockHeight })
  if (outcome !== "contradiction") return outcome
  yield* Metric.update(Metric.withAttributes(Metrics.chainDisagreements, { chain: String(solanaChainId) }), 1)
  yield* Effect.logError(
    "The RPC endpoints of Solana contradict each other about a transaction; its step waits until they agree. Compare them and remove the faulty one"
  )
  return yield* new ChainUnavailable({
    chainId: solanaChainId,
    reason: "its endpoints contradict each other about a transaction; nothing is concluded until they agree"
  })
})
