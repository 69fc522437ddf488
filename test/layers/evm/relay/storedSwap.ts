/** Swaps on a real chain whose transactions are stored and not sent yet, and what is done about one that is stuck. */
import { DateTime, Duration, Effect, Option } from "effect"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import { replaceStuckTransaction } from "#domain/relay/replaceStuckTransaction.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"
import { submit as submitOperation, world } from "#test/layers/sql/fixtures.ts"
import { batchOf, chainIdOf, type Enrollment, EvmWorld, quotedSwap } from "#test/layers/evm/EvmWorld.ts"
import { balances, dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"

/**
 * A swap of ten dollars that is signed and stored as an attempt of a new operation; with room for the market to rise by
 * so many percent, where it has a limit.
 */
export const storedSwap = Effect.fnUntraced(function* (account: bigint | Enrollment, room?: bigint) {
  const { base } = yield* EvmWorld
  const enrollment = typeof account === "bigint" ? yield* tradingAccount(account) : account
  const before = yield* balances(base, enrollment.account)
  const execution = yield* SwapBatches
  const relay = yield* Relayer
  const store = yield* RelayStore
  const made = asTransaction(
    yield* execution.prepare(
      batchOf(enrollment, base, [yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })])
    )
  )
  const prepared = room === undefined ? made : { ...made, feeCeiling: (made.maxFeePerGas * (100n + room)) / 100n }
  const { portfolioId, tenantId } = yield* world()
  const { operationId } = yield* submitOperation(tenantId, portfolioId)
  const attempt: AttemptId = { operationId: operationId as OperationId, chainId: chainIdOf(base), attempt: 1 }
  yield* store.reserve([{ attempt, prepared }], {
    accounts: relay.accounts,
    at: yield* DateTime.now,
    sign: (nonce) => relay.sign(prepared, nonce)
  })
  const signed = (yield* newest(attempt)).transaction
  return { attempt, base, before, enrollment, prepared, signed }
})

export const newest = (attempt: AttemptId) =>
  Effect.flatMap(RelayStore, (store) => Effect.map(store.sent(attempt), Option.getOrThrow))

/** `holdFor` is how long one waits whose gas is dear. */
export const unblock = Effect.fnUntraced(function* (attempt: AttemptId, age = Duration.zero, holdFor = Duration.zero) {
  const services = {
    operations: yield* OperationStore,
    store: yield* RelayStore,
    relayer: yield* Relayer,
    holdFor
  }
  yield* replaceStuckTransaction(services, (yield* newest(attempt)).transaction, age)
  return (yield* newest(attempt)).transaction
})
