/**
 * Turns to sign with a relayer account of a chain. One at a time, and no lock of the database is held meanwhile.
 *
 * Fibers of this process wait for their turn in memory. Against other processes the account's row names the holder and
 * the end of its turn, which is ignored once it has passed. This keeps two from signing with the same nonce in vain and
 * is not what makes nonces unique: that is the commit which stores the bytes.
 */
import { DateTime, Duration, Effect, Option, Schedule, Semaphore } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { timestamp } from "#layers/sql/rows.ts"

export interface RelayerAccount {
  readonly chainId: ChainId
  readonly relayer: EvmAddress
}

/** Longer than a remote signer may take to answer. */
const heldFor = Duration.seconds(8)
/** Past it the work waits as it does for a chain. */
const longestWait = Duration.seconds(30)
/** How often an account that another process holds is polled. */
const pollInterval = Schedule.min([Schedule.exponential(Duration.millis(10), 2), Schedule.spaced(Duration.millis(50))])

interface Local {
  readonly turn: Semaphore.Semaphore
  /** How many of this process have it or wait for it. */
  queued: number
}

export interface RelayerTurns {
  /** One at a time in this process; an effect that waits for too long is not begun. */
  readonly inTurn: <A, E, R>(
    account: RelayerAccount,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ChainUnavailable, R>
  /**
   * Answers the nonce: the first that nothing is stored with. Fails when other processes do not let go of the account.
   * The chain's own count wins when it is ahead: the relayer's key may have been used elsewhere.
   */
  readonly hold: (account: RelayerAccount, chainNonce: number) => Effect.Effect<number, ChainUnavailable | SqlError>
  /** Lets the next one hold the account; storing bytes does the same. */
  readonly giveBack: (account: RelayerAccount) => Effect.Effect<unknown, SqlError>
  /** What of the accounts is under way: those who wait for them here, and other processes that hold them. */
  readonly load: (
    chainId: ChainId,
    accounts: ReadonlyArray<EvmAddress>
  ) => Effect.Effect<(relayer: EvmAddress) => number, SqlError>
}

/** `holder` names this process; of two processes with one name each would sign beside the other, in vain at times. */
export const makeRelayerTurns = (sql: SqlClient.SqlClient, holder: string): RelayerTurns => {
  const locals = new Map<string, Local>()

  const localOf = ({ chainId, relayer }: RelayerAccount): Local => {
    const key = `${chainId} ${relayer}`
    const local = locals.get(key) ?? { turn: Semaphore.makeUnsafe(1), queued: 0 }
    locals.set(key, local)
    return local
  }

  const busy = (account: RelayerAccount) =>
    new ChainUnavailable({
      chainId: account.chainId,
      reason: `relayer ${account.relayer} has been signing other transactions for ${Duration.format(longestWait)}`
    })

  const inTurn = <A, E, R>(account: RelayerAccount, effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const local = localOf(account)
      local.queued += 1
      const turn = Effect.timeoutOrElse(Semaphore.takeScoped(local.turn, 1), {
        duration: longestWait,
        orElse: () => Effect.fail(busy(account))
      })
      return Effect.scoped(Effect.andThen(turn, effect)).pipe(
        Effect.ensuring(Effect.sync(() => void (local.queued -= 1)))
      )
    })

  /** The first nonce that nothing is stored with; none while another process holds the account. */
  const take = Effect.fnUntraced(function* ({ chainId, relayer }: RelayerAccount, chainNonce: number) {
    const now = yield* DateTime.now
    const [row] = yield* sql<{ readonly nonce: bigint }>`
      INSERT INTO relayer_nonces AS n (chain_id, relayer, next, held_by, held_until)
      VALUES (${chainId}, ${relayer}, 0, ${holder}, ${timestamp(DateTime.addDuration(now, heldFor))})
      ON CONFLICT (chain_id, relayer) DO UPDATE SET held_by = excluded.held_by, held_until = excluded.held_until
      WHERE n.held_until IS NULL OR n.held_until <= ${timestamp(now)} OR n.held_by = excluded.held_by
      RETURNING greatest(n.next, ${chainNonce}::bigint) AS nonce`
    return Option.fromUndefinedOr(row).pipe(Option.map(({ nonce }) => Number(nonce)))
  })

  const hold = (account: RelayerAccount, chainNonce: number) =>
    Effect.flatMap(take(account, chainNonce), Effect.fromOption).pipe(
      Effect.retry({ while: ({ _tag }) => _tag === "NoSuchElementError", schedule: pollInterval }),
      Effect.timeoutOrElse({ duration: longestWait, orElse: () => Effect.fail(busy(account)) }),
      Effect.catchTag("NoSuchElementError", () => Effect.fail(busy(account)))
    )

  const giveBack = ({ chainId, relayer }: RelayerAccount) => sql`
    UPDATE relayer_nonces SET held_by = NULL, held_until = NULL
    WHERE chain_id = ${chainId} AND relayer = ${relayer} AND held_by = ${holder}`

  const load = Effect.fnUntraced(function* (chainId: ChainId, accounts: ReadonlyArray<EvmAddress>) {
    const now = timestamp(yield* DateTime.now)
    const rows = yield* sql<{ readonly relayer: EvmAddress; readonly unconfirmed: number }>`
      SELECT account.relayer, (SELECT count(DISTINCT a.nonce) FROM relayed_actions a
          WHERE a.chain_id = ${chainId} AND a.relayer = account.relayer AND a.status = 'signed')::int
        + (SELECT count(*) FROM relayer_nonces n WHERE n.chain_id = ${chainId} AND n.relayer = account.relayer
          AND n.held_until > ${now} AND n.held_by <> ${holder})::int AS unconfirmed
      FROM unnest(${[...accounts]}::text[]) AS account (relayer)`
    const unconfirmed = new Map(rows.map((row) => [row.relayer, row.unconfirmed]))
    return (relayer: EvmAddress) => (unconfirmed.get(relayer) ?? 0) + localOf({ chainId, relayer }).queued
  })

  return { inTurn, hold, giveBack, load }
}
