/**
 * What real chains say beside the scripted ones: which of the relayer's nonces they have used when something is
 * prepared, and that a transaction whose nonce was used by another one will never land.
 */
import { Effect, Layer, Option } from "effect"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { ChainExecution } from "#domain/trading/ChainExecution.ts"
import { WithdrawalExecution } from "#domain/withdrawal/WithdrawalExecution.ts"

const gone = ({ subject, txHash }: SignedTransaction): ActionReceipt => ({
  subject,
  txHash,
  blockNumber: 0n,
  blockHash: null,
  success: false,
  gasUsed: 0n,
  deltas: []
})

const overtaken = Effect.map(Relayer, (relayer) => {
  const atChainsNonce = (prepared: PreparedTransaction) =>
    Effect.map(relayer.usedNonces(prepared.chainId, relayer.address), (chainNonce) => ({ ...prepared, chainNonce }))
  /** The nonce is read first: what lands in between is found. */
  const orGone = <E, R>(transaction: SignedTransaction, find: Effect.Effect<Option.Option<ActionReceipt>, E, R>) =>
    Effect.flatMap(relayer.usedNonces(transaction.chainId, transaction.relayer), (used) =>
      Effect.map(
        find,
        Option.orElse(() => (used > transaction.nonce ? Option.some(gone(transaction)) : Option.none()))
      )
    )
  return { atChainsNonce, orGone }
})

export const honestChains = Layer.mergeAll(
  Layer.effect(
    ChainExecution,
    Effect.gen(function* () {
      const { atChainsNonce } = yield* overtaken
      const trades = yield* ChainExecution
      return ChainExecution.of({
        ...trades,
        prepare: (batch) => Effect.flatMap(trades.prepare(batch), atChainsNonce)
      })
    })
  ),
  Layer.effect(
    UserOperations,
    Effect.gen(function* () {
      const { orGone } = yield* overtaken
      const operations = yield* UserOperations
      return UserOperations.of({
        ...operations,
        find: (transaction, accountId) => orGone(transaction, operations.find(transaction, accountId))
      })
    })
  ),
  Layer.effect(
    WithdrawalExecution,
    Effect.gen(function* () {
      const { atChainsNonce, orGone } = yield* overtaken
      const withdrawals = yield* WithdrawalExecution
      return WithdrawalExecution.of({
        ...withdrawals,
        prepare: (withdrawal) => Effect.flatMap(withdrawals.prepare(withdrawal), atChainsNonce),
        find: (transaction, withdrawal) => orGone(transaction, withdrawals.find(transaction, withdrawal))
      })
    })
  )
)
