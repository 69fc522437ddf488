/**
 * Nonces of the relayer: given out one after the other, each by the commit that stores the bytes that were signed with
 * it and the attempts that these carry.
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
interface Place {
  readonly actions: Actions
  readonly signing: Signing
  readonly outcome: Deferred.Deferred<boolean, ChainUnavailable | CancelRequested>
}

type Places = readonly [Place, ...ReadonlyArray<Place>]

/** The key gave no signature for some. Nothing is stored. */
class Unsigned extends Data.TaggedError("Unsigned")<{ readonly refused: ReadonlyMap<Place, ChainUnavailable> }> {}

export const makeReserve = (sql: SqlClient.SqlClient, turns: RelayerTurns) => {
  const storeSigned = makeStoreSigned(sql)
  const { explain, maySign } = makeStandings(sql)
  const waiting = new Map<string, Set<Place>>()

  const waitingFor = ({ chainId, relayer }: RelayerAccount): Set<Place> => {
    const key = `${chainId} ${relayer}`
    const places = waiting.get(key) ?? new Set()
    waiting.set(key, places)
    return places
  }

  /** Finds the account that has least to do; of equals the earlier one. */
  const leastBusy = Effect.fnUntraced(function* (chainId: ChainId, accounts: Signing["accounts"]) {
    if (accounts.length === 1) return accounts[0]
    const load = yield* turns.load(chainId, accounts)
    return accounts.reduce((least, account) => (load(account) < load(least) ? account : least))
  })

  const chainNonceOf = (places: Places, account: EvmAddress) =>
    Math.max(
      ...places.flatMap(({ actions }) =>
        actions.map(
          ({ prepared }) => prepared.laneNonces.find(({ relayer }) => relayer === account)?.nonce ?? prepared.chainNonce
        )
      )
    )

  /** Signs with nonces in a row. Each is asked for, also when another one is refused. */
  const signAll = Effect.fnUntraced(function* (places: Places, account: RelayerAccount, first: number) {
    const answers = yield* Effect.forEach(
      places,
      ({ actions, signing: { at, sign } }, index) =>
        Effect.result(
          Effect.map(sign(first + index, account.relayer), (transaction) => ({ actions, at, transaction }))
        ),
      { concurrency: maxTogether }
    )
    const [[one, ...others], refusals] = Array.separate(answers)
    if (one !== undefined && refusals.length === 0) return [one, ...others] satisfies Signed
    const refused = places.flatMap((place, index) =>
      Result.match(answers[index]!, { onFailure: (error) => [[place, error] as const], onSuccess: () => [] })
    )
    return yield* new Unsigned({ refused: new Map(refused) })
  })

  const signAndStore = (places: Places, account: RelayerAccount) =>
    Effect.gen(function* () {
      const first = yield* turns.hold(account, chainNonceOf(places, account.relayer))
      yield* storeSigned(yield* signAll(places, account, first))
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

  const one = (account: RelayerAccount, place: Place) =>
    Effect.gen(function* () {
      if (!(yield* maySign(place.actions))) return false
      yield* signAndStore([place], account)
      return true
    }).pipe(
      Effect.catchTag("Unsigned", ({ refused }) => Effect.fail(refused.get(place)!)),
      Effect.catchTag("NotStored", () => explain(place.actions)),
      Effect.catch((error) =>
        error._tag === "ChainUnavailable" || error._tag === "CancelRequested" ? Effect.fail(error) : Effect.die(error)
      )
    )

  const eachAlone = (account: RelayerAccount, places: ReadonlyArray<Place>) =>
    Effect.forEach(
      places,
      (place) => Effect.flatMap(Effect.exit(one(account, place)), (exit) => Deferred.done(place.outcome, exit)),
      { discard: true }
    )

  /** What the key refuses has its answer, and the others are signed anew: their nonces have moved up. */
  const together = (account: RelayerAccount, places: ReadonlyArray<Place>): Effect.Effect<void> => {
    const [first, ...others] = places
    if (first === undefined || others.length === 0) return eachAlone(account, places)
    const [action, ...actions] = places.flatMap((place) => place.actions)
    return Effect.gen(function* () {
      if (!(yield* maySign([action!, ...actions]))) return yield* eachAlone(account, places)
      yield* signAndStore([first, ...others], account)
      for (const { outcome } of places) yield* Deferred.succeed(outcome, true)
    }).pipe(
      Effect.catchTag("Unsigned", ({ refused }) => {
        for (const [{ outcome }, error] of refused) Deferred.doneUnsafe(outcome, Effect.fail(error))
        return together(
          account,
          places.filter((place) => !refused.has(place))
        )
      }),
      Effect.catchTag("ChainUnavailable", (error) => {
        for (const { outcome } of places) Deferred.doneUnsafe(outcome, Effect.fail(error))
        return Effect.void
      }),
      Effect.catchCause(() => eachAlone(account, places))
    )
  }

  /** Takes an account's turn. What keeps one from being stored is its own: the others are stored all the same. */
  const takeTurn = (account: RelayerAccount, own: Place) =>
    Effect.suspend(() => {
      const places = waitingFor(account)
      // Another one has stored it in its turn.
      if (!places.has(own)) return Effect.void
      const taken = [own, ...[...places].filter((place) => place !== own).slice(0, maxTogether - 1)]
      for (const place of taken) places.delete(place)
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
    const account = { chainId, relayer: yield* Effect.orDie(leastBusy(chainId, signing.accounts)) }
    const place: Place = { actions, signing, outcome: Deferred.makeUnsafe() }
    const places = waitingFor(account)
    places.add(place)
    yield* turns.inTurn(account, takeTurn(account, place)).pipe(
      // Whoever has taken it answers for it, also when its own turn would come too late.
      Effect.catch((busy) => (places.has(place) ? Effect.fail(busy) : Effect.void)),
      Effect.ensuring(Effect.sync(() => places.delete(place)))
    )
    return yield* Deferred.await(place.outcome)
  })
}
