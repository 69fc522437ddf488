/**
 * Prepares what is to be signed next for an operation, unless the chain shows that one of which no record is left has
 * carried it out, as after a failover to a copy of the database that lacks the last commits.
 *
 * The next is made first, and then the chain is read for those before: when one lands in between, both have the same
 * nonce of the account, and only one can count. A chain without such nonces answers when nothing earlier can land any
 * more. Nothing is signed of what could not be asked.
 */
import { DateTime, Duration, Effect, Option, Result } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import {
  type TaggedOperation,
  minAgeOfLoss,
  type OperationTags,
  type SoughtOperation
} from "#domain/relay/OperationTags.ts"
import type { ToSign } from "#domain/relay/Transaction.ts"

export interface Preparing<A, E, R> extends Pick<SoughtOperation, "chainId" | "operationId" | "since"> {
  /** Whose operations are searched; none: the operation has no account on the chain. Asked where one may be lost. */
  readonly accountOf: (made: A) => Effect.Effect<Option.Option<AccountId>>
  readonly prepare: Effect.Effect<A, E, R>
  /** What is to be signed; undefined where nothing is. */
  readonly toSign: (made: A) => ToSign | undefined
}

export type PreparedUnlessIncluded<A> =
  /** The chain shows nothing of the operation, or nothing can be lost. */
  | { readonly _tag: "Prepared"; readonly made: A }
  /** The chain could not be asked: what was made must not be signed. */
  | { readonly _tag: "Unasked"; readonly made: A; readonly error: ChainUnavailable }
  /** Carried out, whatever was made. */
  | Exclude<TaggedOperation, { readonly _tag: "Absent" }>

export const prepareUnlessIncluded = Effect.fnUntraced(function* <A, E, R>(
  tags: OperationTags["Service"],
  { accountOf, chainId, operationId, prepare, since, toSign }: Preparing<A, E, R>
): Effect.fn.Return<PreparedUnlessIncluded<A>, E, R> {
  const made = yield* prepare
  const prepared: PreparedUnlessIncluded<A> = { _tag: "Prepared", made }
  if (Duration.isLessThan(DateTime.distance(since, yield* DateTime.now), minAgeOfLoss)) return prepared
  const accountId = yield* accountOf(made)
  if (Option.isNone(accountId)) return prepared
  const next = toSign(made)
  const sought = { chainId, accountId: accountId.value, operationId, since, fromBlock: next?.from ?? 0n, toSign: next }
  const found = yield* Effect.result(tags.find(sought))
  if (Result.isFailure(found)) return { _tag: "Unasked", made, error: found.failure }
  return found.success._tag === "Absent" ? prepared : found.success
})
