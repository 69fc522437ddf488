/**
 * Balances in which one balance under two addresses counts once: some tokens have an old contract and a new one, or a
 * proxy for each of two names, to the same ledger.
 *
 * Two tokens of which an account holds the same amount, with the same decimals, are candidates. Whether they are one is
 * found by moving: a transfer of either, made up on the account's own state, takes as much of the other with it. One
 * that cannot be transferred, and only shows what the other holds, is never the one that counts. That is asked once a
 * day for two tokens, not for each account, and is written down.
 */
import { DateTime, Duration, Effect, Layer, Option, Result } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import { type EntryPair, type JudgedEntries, TokenEntryStore } from "#domain/asset/TokenEntryStore.ts"
import type { AccountId, AssetId, ChainId } from "#domain/values/Caip.ts"
import { type AccountBalances, type AccountRequest, Balances, type ReadingTerms } from "#domain/chain/Balances.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"

/** What was found is asked about anew after so long; what could not be found out, after so long. */
const judgedFor = Duration.days(1)
const unknownFor = Duration.minutes(5)
/** A chain that has not answered by then has not answered. */
const answeredIn = Duration.seconds(3)
/** Pairs of one reading: accounts hold few tokens, and fewer of the same amount. */
const maxPairs = 32
const judgeConcurrency = 4

/** Two tokens that may be one, of which the account holds so much. */
interface Candidate extends EntryPair {
  readonly account: AccountId
  readonly raw: bigint
}

const keyOf = ({ one, other }: EntryPair): string => (one < other ? `${one} ${other}` : `${other} ${one}`)

/** Tokens of the same amount above zero. */
const sameAmounts = ({ balances }: AccountBalances): ReadonlyArray<readonly [bigint, ReadonlyArray<AssetId>]> => {
  const held = balances.flatMap(({ assetId, raw }) => (raw === null || raw === 0n ? [] : [{ assetId, raw }]))
  return [...Map.groupBy(held, ({ raw }) => raw)].flatMap(([raw, tokens]) =>
    tokens.length < 2 ? [] : [[raw, tokens.map(({ assetId }) => assetId)] as const]
  )
}

const candidatesIn = (
  account: AccountId,
  reading: AccountBalances,
  decimalsOf: ReadonlyMap<AssetId, number>
): ReadonlyArray<Candidate> =>
  sameAmounts(reading).flatMap(([raw, tokens]) =>
    tokens.flatMap((one, index) =>
      tokens.slice(index + 1).flatMap((other) => {
        const decimals = decimalsOf.get(one)
        return decimals !== undefined && decimals === decimalsOf.get(other) ? [{ account, one, other, raw }] : []
      })
    )
  )

/** The reading without the amounts that another entry shows already. */
const countedOnce = (
  reading: AccountBalances,
  own: ReadonlyArray<Candidate>,
  known: ReadonlyMap<string, JudgedEntries>
): AccountBalances => {
  const twice = new Set<AssetId>()
  for (const pair of own) {
    const found = known.get(keyOf(pair))
    // Of more than two entries one stays, however they were judged against each other.
    if (found?.areOne === true && !twice.has(found.main)) twice.add(found.other)
  }
  if (twice.size === 0) return reading
  return {
    ...reading,
    balances: reading.balances.map((held) => (twice.has(held.assetId) ? { ...held, raw: 0n } : held))
  }
}

/** Takes `Balances` as accounts have them. */
export const BalancesOnce = Layer.effect(
  Balances,
  Effect.gen(function* () {
    const balances = yield* Balances
    const assets = yield* Assets
    const reader = yield* TokenReader
    const store = yield* TokenEntryStore

    const judge = Effect.fnUntraced(function* ({ account, one, other, raw }: Candidate) {
      const moving = (first: AssetId, second: AssetId) =>
        reader.areOne(account, { one: first, other: second, raw }).pipe(
          Effect.timeoutOption(answeredIn),
          Effect.map(Option.getOrElse(() => null)),
          Effect.catchTag("ChainUnavailable", () => Effect.succeed(null))
        )
      const [byOne, byOther] = [yield* moving(one, other), yield* moving(other, one)]
      const areOne = byOne === true || byOther === true ? true : (byOne ?? byOther)
      if (areOne === true) yield* Effect.logWarning(`${one} and ${other} are one balance, which counts once`)
      const only = byOne === true && byOther !== true ? one : byOther === true && byOne !== true ? other : null
      return yield* store.record(yield* DateTime.now, { one, other, areOne, only })
    })

    /** What is known of the candidates, once those that are due were judged. */
    const judgedOf = Effect.fnUntraced(function* (candidates: ReadonlyArray<Candidate>) {
      const pairs = new Map(candidates.map((pair) => [keyOf(pair), pair]))
      const stored = yield* store.judged([...pairs.values()])
      const known = new Map(stored.map((one) => [keyOf({ one: one.main, other: one.other }), one]))
      const now = yield* DateTime.now
      const isDue = (pair: string) => {
        const last = known.get(pair)
        if (last === undefined) return true
        const lasts = last.areOne === null ? unknownFor : judgedFor
        return DateTime.isLessThanOrEqualTo(last.judgedAt, DateTime.subtractDuration(now, lasts))
      }
      const due = [...pairs].filter(([key]) => isDue(key)).slice(0, maxPairs)
      const judged = yield* Effect.forEach(due, ([, pair]) => judge(pair), { concurrency: judgeConcurrency })
      return new Map([...known, ...judged.map((one) => [keyOf({ one: one.main, other: one.other }), one] as const)])
    })

    /** Counts one balance under two addresses once, in each reading. */
    const once = Effect.fnUntraced(function* (readings: ReadonlyArray<readonly [AccountId, AccountBalances]>) {
      const alike = [
        ...new Set(readings.flatMap(([, reading]) => sameAmounts(reading).flatMap(([, tokens]) => tokens)))
      ]
      if (alike.length === 0) return readings.map(([, reading]) => reading)
      const decimalsOf = new Map([...(yield* assets.find(alike))].map(([assetId, { decimals }]) => [assetId, decimals]))
      const own = readings.map(([account, reading]) => candidatesIn(account, reading, decimalsOf))
      if (own.every((candidates) => candidates.length === 0)) return readings.map(([, reading]) => reading)
      const known = yield* judgedOf(own.flat())
      return readings.map(([, reading], index) => countedOnce(reading, own[index]!, known))
    })

    const read = Effect.fnUntraced(function* (
      account: AccountId,
      assetIds: ReadonlyArray<AssetId>,
      terms: ReadingTerms = {}
    ) {
      const [reading] = yield* once([[account, yield* balances.read(account, assetIds, terms)]])
      return reading!
    })

    const readMany = Effect.fnUntraced(function* (chainId: ChainId, accounts: ReadonlyArray<AccountRequest>) {
      const results = yield* balances.readMany(chainId, accounts)
      const read = results.flatMap((result, index) =>
        Result.isSuccess(result) ? [[accounts[index]!.account, result.success] as const] : []
      )
      const counted = (yield* once(read))[Symbol.iterator]()
      return results.map((result) => Result.map(result, (reading) => counted.next().value ?? reading))
    })

    return Balances.of({ read, readMany })
  })
)
