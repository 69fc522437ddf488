/**
 * Nonces of the relayer: given out one after the other, each by the commit that stores the bytes that were signed with
 * it and the attempts that these include.
 *
 * The key signs while nothing is locked, so the commit is what decides: the second one of a nonce signs again with the
 * next. Whoever has the turn of an account signs and stores for all that wait for it in this process, in one commit, so
 * that under load a turn costs no more for many transactions than for one.
 */
import { Array, Data, Deferred, Effect, Exit, Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { Signing } from "#domain/relay/RelayStore.ts"
import type { RelayerAccount, RelayerTurns } from "#layers/sql/relay/relayerTurns.ts"
import { makeStandings } from "#layers/sql/relay/standings.ts"
import { type Actions, makeStoreSigned, type Signed } from "#layers/sql/relay/signedBytes.ts"

/** Each time another process has stored a transaction. */
const maxOvertakings = 20
/** Transactions of a turn, each with at most 96 KiB of calldata. */
const maxTogether = 8

/** A transaction that waits for the turn of its account, and what became of it. */
interface WaitingTransaction {
  readonly actions: Actions
  readonly signing: Signing
  readonly outcome: Deferred.Deferred<boolean, ChainUnavailable | CancelRequested>
}

type WaitingTransactions = readonly [WaitingTransaction, ...ReadonlyArray<WaitingTransaction>]

/** The key gave no signature for some. Nothing is stored. */
class Unsigned extends Data.TaggedError("Unsigned")<{
  readonly refused: ReadonlyMap<WaitingTransaction, ChainUnavailable>
}> {}

export const makeReserve = (sql: SqlClient.SqlClient, turns: RelayerTurns) => {
  const storeSigned = makeStoreSigned(sql)
  const { explain, maySign } = makeStandings(sql)
  const waiting = new Map<string, Set<WaitingTransaction>>()

  const waitingFor = ({ chainId, relayer }: RelayerAccount): Set<WaitingTransaction> => {
    const key = `${chainId} ${relayer}`
    const waitingOnes = waiting.get(key) ?? new Set()
    waiting.set(key, waitingOnes)
    return waitingOnes
  }

  /** Finds the account that has the fewest to do; of equals the earlier one. */
  const idlest = Effect.fnUntraced(function* (chainId: ChainId, accounts: Signing["accounts"]) {
    if (accounts.length === 1) return accounts[0]
    const load = yield* turns.load(chainId, accounts)
    return accounts.reduce((least, account) => (load(account) < load(least) ? account : least))
  })

  const chainNonceOf = (waitingOnes: WaitingTransactions, account: EvmAddress) =>
    Math.max(
      ...waitingOnes.flatMap(({ actions }) =>
        actions.map(
          ({ prepared }) => prepared.laneNonces.find(({ relayer }) => relayer === account)?.nonce ?? prepared.chainNonce
        )
      )
    )

  /** Signs with nonces in a row. Each is asked for, also when another one is refused. */
  const signAll = Effect.fnUntraced(function* (
    waitingOnes: WaitingTransactions,
    account: RelayerAccount,
    first: number
  ) {
    const answers = yield* Effect.forEach(
      waitingOnes,
      ({ actions, signing: { at, sign } }, index) =>
        Effect.result(
          Effect.map(sign(first + index, account.relayer), (transaction) => ({ actions, at, transaction }))
        ),
      { concurrency: maxTogether }
    )
    const [[one, ...others], refusals] = Array.separate(answers)
    if (one !== undefined && refusals.length === 0) return [one, ...others] satisfies Signed
    const refused = waitingOnes.flatMap((one, index) =>
      Result.match(answers[index]!, { onFailure: (error) => [[one, error] as const], onSuccess: () => [] })
    )
    return yield* new Unsigned({ refused: new Map(refused) })
  })

  const signAndStore = (waitingOnes: WaitingTransactions, account: RelayerAccount) =>
    Effect.gen(function* () {
      const first = yield* turns.hold(account, chainNonceOf(waitingOnes, account.relayer))
      yield* storeSigned(yield* signAll(waitingOnes, account, first))
    }).pipe(
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.ignore(turns.giveBack(account)))),
      Effect.retry({ while: ({ _tag }) => _tag === "Overtaken", times: maxOvertakings }),
      Effect.catchTag("Overtaken", () =>
        Effect.fail(
          new ChainUnavailable({
            chainId: account.chainId,
            reason: `others have used ${maxOvertakings} nonces of relayer ${account.relayer} while its key signed`
          })
        )
      )
    )

  const alone = (account: RelayerAccount, one: WaitingTransaction) =>
    Effect.gen(function* () {
      if (!(yield* maySign(one.actions))) return false
      yield* signAndStore([one], account)
      return true
    }).pipe(
      Effect.catchTag("Unsigned", ({ refused }) => Effect.fail(refused.get(one)!)),
      Effect.catchTag("NotStored", () => explain(one.actions)),
      Effect.catch((error) =>
        error._tag === "ChainUnavailable" || error._tag === "CancelRequested" ? Effect.fail(error) : Effect.die(error)
      )
    )

  const eachAlone = (account: RelayerAccount, waitingOnes: ReadonlyArray<WaitingTransaction>) =>
    Effect.forEach(
      waitingOnes,
      (one) => Effect.flatMap(Effect.exit(alone(account, one)), (exit) => Deferred.done(one.outcome, exit)),
      { discard: true }
    )

  /** What the key refuses has its answer, and the others are signed anew: their nonces have moved up. */
  const together = (account: RelayerAccount, waitingOnes: ReadonlyArray<WaitingTransaction>): Effect.Effect<void> => {
    const [first, ...others] = waitingOnes
    if (first === undefined || others.length === 0) return eachAlone(account, waitingOnes)
    const [action, ...actions] = waitingOnes.flatMap((one) => one.actions)
    return Effect.gen(function* () {
      if (!(yield* maySign([action!, ...actions]))) return yield* eachAlone(account, waitingOnes)
      yield* signAndStore([first, ...others], account)
      for (const { outcome } of waitingOnes) yield* Deferred.succeed(outcome, true)
    }).pipe(
      Effect.catchTag("Unsigned", ({ refused }) => {
        for (const [{ outcome }, error] of refused) Deferred.doneUnsafe(outcome, Effect.fail(error))
        return together(
          account,
          waitingOnes.filter((one) => !refused.has(one))
        )
      }),
      Effect.catchTag("ChainUnavailable", (error) => {
        for (const { outcome } of waitingOnes) Deferred.doneUnsafe(outcome, Effect.fail(error))
        return Effect.void
      }),
      Effect.catchCause(() => eachAlone(account, waitingOnes))
    )
  }

  /** Takes an account's turn. What keeps one from being stored is its own: the others are stored all the same. */
  const takeTurn = (account: RelayerAccount, own: WaitingTransaction) =>
    Effect.suspend(() => {
      const waitingOnes = waitingFor(account)
      // Another one has stored it in its turn.
      if (!waitingOnes.has(own)) return Effect.void
      const taken = [own, ...[...waitingOnes].filter((one) => one !== own).slice(0, maxTogether - 1)]
      for (const one of taken) waitingOnes.delete(one)
      return together(account, taken).pipe(
        Effect.onInterrupt(() =>
          Effect.forEach(
            taken,
            ({ outcome }) =>
              Deferred.fail(
                outcome,
                new ChainUnavailable({
                  chainId: account.chainId,
                  reason: `the turn of relayer ${account.relayer} was broken off, and is repeated`
                })
              ),
            { discard: true }
          )
        )
      )
    })

  return Effect.fn("RelayStore.reserve")(function* (actions: Actions, signing: Signing) {
    const { chainId } = actions[0].attempt
    const account = { chainId, relayer: yield* Effect.orDie(idlest(chainId, signing.accounts)) }
    const one: WaitingTransaction = { actions, signing, outcome: Deferred.makeUnsafe() }
    const waitingOnes = waitingFor(account)
    waitingOnes.add(one)
    yield* turns.inTurn(account, takeTurn(account, one)).pipe(
      // Whoever has taken it answers for it, also when its own turn would come too late.
      Effect.catch((busy) => (waitingOnes.has(one) ? Effect.fail(busy) : Effect.void)),
      Effect.ensuring(Effect.sync(() => waitingOnes.delete(one)))
    )
    return yield* Deferred.await(one.outcome)
  })
}
