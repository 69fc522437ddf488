/**
 * The nonces of a relayer account as the chain counts them. Where a chain has several endpoints the answer of one of
 * them is not enough: a nonce that is too high would leave a gap that no transaction fills, and the account would stand
 * still.
 */
import { Deferred, Duration, Effect, Result } from "effect"
import type { Address } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

const timeout = Duration.seconds(2)

type BlockTag = "latest" | "pending"

/** The first two answers of the chain's endpoints, or what there is when no more come in time; fails when none does. */
const readNonces = Effect.fnUntraced(function* (chainId: ChainId, relayer: Address, blockTag: BlockTag) {
  const { each } = yield* EvmClients
  const answers: Array<number> = []
  const enough = yield* Deferred.make<void>()
  const read = ({ request }: EvmClients["Service"]) =>
    request(chainId, "eth_getTransactionCount", (client) =>
      client.getTransactionCount({ address: relayer, blockTag })
    ).pipe(
      withinRealTime(timeout, () => new ChainUnavailable({ chainId, reason: "no answer in time" })),
      Effect.tap((nonce) => (answers.push(nonce) === 2 ? Deferred.succeed(enough, undefined) : Effect.void)),
      Effect.result
    )
  const endpoints = each(chainId)
  const all = Effect.forEach(endpoints, read, { concurrency: "unbounded" })
  const failures = yield* Effect.raceFirst(
    Effect.map(all, (results) => results.filter(Result.isFailure)),
    Effect.as(Deferred.await(enough), [])
  )
  if (answers.length === 0) {
    return yield* failures[0]?.failure ?? new ChainUnavailable({ chainId, reason: "no RPC endpoint is configured" })
  }
  return { answers, isOnlyEndpoint: endpoints.length === 1 }
})

/**
 * The account's next nonce, transactions that wait in the pool included, as far as two endpoints show it; 0 while only
 * one of several answers, which leaves the stored nonce as it is. The only endpoint of a chain is trusted.
 */
export const readPendingNonce = Effect.fnUntraced(function* (chainId: ChainId, relayer: Address) {
  const { answers, isOnlyEndpoint } = yield* readNonces(chainId, relayer, "pending")
  return answers.length > 1 || isOnlyEndpoint ? Math.min(...answers) : 0
})

/** How many of the account's nonces are used, as far as two endpoints show it, or the one that answers. */
export const readUsedNonces = Effect.fnUntraced(function* (chainId: ChainId, relayer: Address) {
  const { answers } = yield* readNonces(chainId, relayer, "latest")
  return Math.min(...answers)
})
