/** What became of a transaction of the relayer that carries a withdrawal, alone or at the end of a batch of sales. */
import { Effect, Option } from "effect"
import type { Address, Hex } from "viem"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { receiptOf } from "#layers/evm/execution/sendTransaction.ts"
import { landedIn, withdrawalStanding } from "#layers/evm/withdrawal/withdrawalStanding.ts"

export const findWithdrawal = Effect.fnUntraced(function* (
  { chainId, nonce, subject, txHash }: SignedTransaction,
  withdrawal: StoredWithdrawal,
  relayer: Address
) {
  const { request } = yield* EvmClients
  // The nonce first: when it was used before the receipt was asked for, a missing receipt is an answer.
  const minedNonces = yield* request(chainId, "eth_getTransactionCount", (client) =>
    client.getTransactionCount({ address: relayer, blockTag: "latest" })
  )
  const own = yield* request(chainId, "eth_getTransactionReceipt", (client) => receiptOf(client, txHash as Hex))
  const landed = own === null ? Option.none<ActionReceipt>() : landedIn(own, withdrawal, subject)
  if (Option.isSome(landed)) return landed

  const standing = yield* withdrawalStanding(withdrawal)
  if (standing._tag === "Landed") return Option.some({ ...standing.receipt, subject })
  // Reverted, overtaken, or too late whenever it is mined: by this transaction nothing moves.
  const isOver = own !== null || minedNonces > nonce || standing._tag === "Closed"
  return isOver
    ? Option.some<ActionReceipt>({
        subject,
        txHash,
        blockNumber: own?.blockNumber ?? 0n,
        success: false,
        gasUsed: own?.gasUsed ?? 0n,
        deltas: []
      })
    : Option.none<ActionReceipt>()
})
