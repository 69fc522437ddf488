/**
 * Nonces of the relayer: given out one after the other, each by the commit that stores the bytes that were signed with
 * it and the attempts that these carry.
 *
 * The key signs while nothing is locked, so the commit is what decides: the lock on the account's row orders the
 * commits, and the second one of a nonce signs again with the next. The primary key of attempts is what signs each of
 * them once; they are stored in one order, so that two that store the same wait for each other rather than deadlock.
 */
import { type DateTime, Data, Effect, Exit } from "effect"
import type { SqlClient } from "effect/sql"
import type { ChainId, EvmAddress } from "#domain/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/Ids.ts"
import { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { CarriedAction, Signing } from "#domain/relay/RelayStore.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { holdOpen } from "#layers/sql/operation/cancelRequests.ts"
import type { RelayerAccount, RelayerTurns } from "#layers/sql/relay/relayerTurns.ts"
import { timestamp } from "#layers/sql/rows.ts"

type Actions = readonly [CarriedAction, ...ReadonlyArray<CarriedAction>]

/** Takes everything back: one of the attempts cannot be stored. */
class NotStored extends Data.TaggedError("NotStored")<{}> {}

/** Another process has stored bytes with the nonce meanwhile. */
class Overtaken extends Data.TaggedError("Overtaken")<{}> {}

/** Each time another process has stored a transaction. */
const maxOvertakings = 20

export const makeReserve = (sql: SqlClient.SqlClient, turns: RelayerTurns) => {
  /**
   * Only as long as nothing is stored with it or a later one. The operations are kept from being cancelled from here to
   * the commit.
   */
  const useNonce = (
    { chainId, relayer }: RelayerAccount,
    nonce: number,
    operationIds: ReadonlyArray<OperationId>
  ) => sql`
    UPDATE relayer_nonces SET next = ${nonce} + 1, held_by = NULL, held_until = NULL
    WHERE chain_id = ${chainId} AND relayer = ${relayer} AND next <= ${nonce}
    RETURNING ${holdOpen(sql, operationIds)}`

  /** Of equals the earlier one. */
  const leastBusy = Effect.fnUntraced(function* (chainId: ChainId, accounts: Signing["accounts"]) {
    if (accounts.length === 1) return accounts[0]
    const load = yield* turns.load(chainId, accounts)
    return accounts.reduce((least, account) => (load(account) < load(least) ? account : least))
  })

  const chainNonceOf = (actions: Actions, account: EvmAddress) =>
    Math.max(
      ...actions.map(
        ({ prepared }) => prepared.laneNonces.find(({ relayer }) => relayer === account)?.nonce ?? prepared.chainNonce
      )
    )

  const store = (
    actions: Actions,
    { chainId, nonce, raw, relayer, txHash }: SignedTransaction,
    at: DateTime.Utc
  ) => sql`
    WITH transaction AS (
      INSERT INTO relayed_transactions (chain_id, relayer, nonce, carries, tx_hash, raw, created_at)
      VALUES (${chainId}, ${relayer}, ${nonce}, ${actions.length}, ${txHash}, ${raw}, ${timestamp(at)})
    )
    INSERT INTO relayed_actions (operation_id, chain_id, attempt, account_id, subject, relayer, nonce, from_block,
      status, created_at, updated_at)
    SELECT a.operation_id, ${chainId}, a.attempt, a.account_id, a.subject, ${relayer}, ${nonce}, a.from_block::numeric,
      'signed', ${timestamp(at)}, ${timestamp(at)}
    FROM unnest(${actions.map(({ attempt }) => attempt.operationId)}::text[],
      ${actions.map(({ attempt }) => attempt.attempt)}::int[],
      ${actions.map(({ prepared }) => prepared.accountId)}::text[],
      ${actions.map(({ prepared }) => prepared.subject)}::text[],
      ${actions.map(({ prepared }) => prepared.fromBlock.toString())}::text[])
      AS a (operation_id, attempt, account_id, subject, from_block)
    JOIN operations o ON o.operation_id = a.operation_id AND o.finished_at IS NULL
      AND o.cancel_requested_at IS NULL
    ORDER BY a.operation_id, a.attempt
    ON CONFLICT (operation_id, chain_id, attempt) DO NOTHING RETURNING 1`

  const storeAt = Effect.fnUntraced(function* (actions: Actions, transaction: SignedTransaction, at: DateTime.Utc) {
    const account = { chainId: transaction.chainId, relayer: transaction.relayer }
    const operationIds = actions.map(({ attempt }) => attempt.operationId)
    if ((yield* useNonce(account, transaction.nonce, operationIds)).length === 0) return yield* new Overtaken()
    if ((yield* store(actions, transaction, at)).length < actions.length) return yield* new NotStored()
  }, sql.withTransaction)

  const signAndStore = (actions: Actions, account: RelayerAccount, { at, sign }: Signing) =>
    Effect.gen(function* () {
      const nonce = yield* turns.hold(account, chainNonceOf(actions, account.relayer))
      yield* storeAt(actions, yield* sign(nonce, account.relayer), at)
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

  /** How many of the attempts are signed, and how many are of operations that are to be cancelled. */
  const standing = Effect.fnUntraced(function* (actions: Actions) {
    const [row] = yield* sql<{ readonly signed: number; readonly cancelled: number }>`
      SELECT count(a.attempt)::int AS signed, count(o.cancel_requested_at)::int AS cancelled
      FROM unnest(${actions.map(({ attempt }) => attempt.operationId)}::text[],
        ${actions.map(({ attempt }) => attempt.attempt)}::int[]) AS w (operation_id, attempt)
      JOIN operations o ON o.operation_id = w.operation_id
      LEFT JOIN relayed_actions a ON a.operation_id = w.operation_id AND a.chain_id = ${actions[0].attempt.chainId}
        AND a.attempt = w.attempt`
    return row!
  })

  /** Whether the actions may be signed together now. One that is to be cancelled keeps no others from it. */
  const maySign = Effect.fnUntraced(function* (actions: Actions) {
    const { cancelled, signed } = yield* standing(actions)
    if (signed > 0) return false
    if (cancelled === 0) return true
    if (actions.length > 1) return false
    return yield* new CancelRequested({ operationId: actions[0].attempt.operationId })
  })

  /** Either an attempt was signed by another process meanwhile, or its operation has ended or is to be cancelled. */
  const explain = Effect.fnUntraced(function* (actions: Actions) {
    if (!(yield* maySign(actions))) return false
    const operations = actions.map(({ attempt }) => attempt.operationId).join(", ")
    return yield* Effect.die(
      new Error(`Nothing is signed for ${operations}: an operation among them has ended or does not exist`)
    )
  })

  return Effect.fn("RelayStore.reserve")(function* (actions: Actions, signing: Signing) {
    const { chainId } = actions[0].attempt
    const account = { chainId, relayer: yield* Effect.orDie(leastBusy(chainId, signing.accounts)) }
    return yield* Effect.gen(function* () {
      if (!(yield* maySign(actions))) return false
      yield* signAndStore(actions, account, signing)
      return true
    }).pipe(
      (reserving) => turns.inTurn(account, reserving),
      Effect.catchTag("NotStored", () => explain(actions)),
      Effect.catch((error) =>
        error._tag === "ChainUnavailable" || error._tag === "CancelRequested" ? Effect.fail(error) : Effect.die(error)
      )
    )
  })
}
