/** Withdrawals through the executor that every account has, submitted by the relayer. */
import { Effect, Layer } from "effect"
import type { Hex } from "viem"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { nativeOf } from "#domain/account/WithdrawalMessage.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { relayerAddresses } from "#layers/evm/execution/chainState.ts"
import { netTransfers } from "#layers/evm/execution/operationOutcome.ts"
import { receiptOf } from "#layers/evm/execution/sendTransaction.ts"
import { findWithdrawal } from "#layers/evm/withdrawal/findWithdrawal.ts"
import { prepareWithdrawal } from "#layers/evm/withdrawal/prepareWithdrawal.ts"
import { withdrawalStanding } from "#layers/evm/withdrawal/withdrawalStanding.ts"

export const WithdrawalTransactionsLive = Layer.effect(
  WithdrawalTransactions,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const relayers = yield* relayerAddresses

    const standing = Effect.fn("WithdrawalTransactions.standing")(
      withdrawalStanding,
      Effect.provideService(EvmClients, clients)
    )

    const prepare = Effect.fn("WithdrawalTransactions.prepare")(
      (withdrawal: StoredWithdrawal) => prepareWithdrawal(withdrawal, relayers),
      Effect.provideService(EvmClients, clients)
    )

    const find = Effect.fn("WithdrawalTransactions.find")(
      (transaction: SignedTransaction, withdrawal: StoredWithdrawal) => findWithdrawal(transaction, withdrawal),
      Effect.provideService(EvmClients, clients)
    )

    const delivered = Effect.fn("WithdrawalTransactions.delivered")(function* (
      { accountId, message }: StoredWithdrawal,
      { txHash }: ActionReceipt
    ) {
      // The account's call reverts unless the recipient takes all of it.
      const native = nativeOf(message)
      if (native !== undefined) return [{ assetId: native.assetId, raw: BigInt(native.amountRaw) }]
      const chainId = chainIdOf(accountId)
      const receipt = yield* clients.request(chainId, "eth_getTransactionReceipt", (client) =>
        receiptOf(client, txHash as Hex)
      )
      if (receipt === null) {
        return yield* new ChainUnavailable({ chainId, reason: `the node does not show transaction ${txHash}` })
      }
      return netTransfers(receipt, message.recipientAccountId)
    })

    return WithdrawalTransactions.of({ standing, prepare, find, delivered })
  })
)
