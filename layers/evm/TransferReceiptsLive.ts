/** What an account received, by the Transfer events of tokens and of receipts. */
import { Effect, Layer, Option } from "effect"
import { erc20Abi, getAbiItem, type Hex } from "viem"
import { chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import {
  type Arrival,
  type SoughtAction,
  type SoughtArrival,
  TransferReceipts
} from "#domain/transfer/TransferReceipts.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { blockBefore, clockSkewMs, type Since } from "#layers/evm/rpc/blockBefore.ts"
import { operationNonceIn, readOperationNonces } from "#layers/evm/account/operationNonce.ts"
import { searchLogs } from "#layers/evm/rpc/logSearch.ts"
import { agreed, concluded, readEach } from "#layers/evm/rpc/quorum.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { findReceipt } from "#layers/evm/execution/findReceipt.ts"
import { actsIn, netTransfers } from "#layers/evm/execution/operationOutcome.ts"
import { readDepth, confirmedReceipt } from "#layers/evm/execution/confirmedReceipt.ts"

/** Blocks that a search for an arrival reaches back at most: half a day on the fastest chain. */
const maxBlocks = 200_000n
/** Transactions that are read, of those that brought about as much. */
const maxArrivals = 20
const maxIncluded = 1_000

type Found = Arrival & Pick<ActionReceipt, "txHash" | "blockHash">

/** What one endpoint shows of a transaction that counts. */
const observe = Effect.fnUntraced(function* (accountId: AccountId, txHash: Hex) {
  const chainId = chainIdOf(accountId)
  const { head, confirmed } = yield* readDepth(chainId)
  const receipt = yield* confirmedReceipt(chainId, txHash, confirmed)
  if (receipt === null || receipt === "pending") return { head, confirmed, receipt: Option.none<Found>() }
  const found: Found = {
    txHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    success: receipt.status === "success",
    isOwn: actsIn(receipt, accountId),
    deltas: netTransfers(receipt, accountId)
  }
  return { head, confirmed, receipt: Option.some(found) }
})

const transferEvent = getAbiItem({ abi: erc20Abi, name: "Transfer" })

/** The transactions that one endpoint shows. */
const arrivalsAt = Effect.fnUntraced(function* (
  accountId: AccountId,
  { assetId, least, most }: SoughtArrival,
  since: Since
) {
  const chainId = chainIdOf(accountId)
  const { request } = yield* EvmClients
  const { head, confirmed } = yield* readDepth(chainId)
  const range = { fromBlock: yield* blockBefore(chainId, since, head), toBlock: confirmed }
  const [address, to] = [toViem(addressOf(assetId)), toViem(addressOf(accountId))]
  const logs = yield* searchLogs(chainId, {
    range,
    read: (client, part) => client.getLogs({ address, event: transferEvent, args: { to }, ...part, strict: true })
  })
  const alike = logs.filter(({ args }) => args.value >= least && args.value <= most).slice(0, maxArrivals)
  const younger = yield* Effect.filter(alike, ({ blockNumber }) =>
    Effect.map(
      request(chainId, "eth_getBlockByNumber", (client) => client.getBlock({ blockNumber })),
      ({ timestamp }) => Number(timestamp) * 1_000 >= since.millis - clockSkewMs
    )
  )
  return younger.map((log) => log.transactionHash)
})

export const TransferReceiptsLive = Layer.effect(
  TransferReceipts,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const read = Effect.fn("TransferReceipts.read")(
      (accountId: AccountId, txHash: string) => {
        const chainId = chainIdOf(accountId)
        return Effect.andThen(spanIsAbout({ chainId, txHash }), agreed(chainId, observe(accountId, txHash as Hex)))
      },
      Effect.provideService(EvmClients, clients)
    )

    const inclusionOf = Effect.fn("TransferReceipts.inclusionOf")(
      function* (accountId: AccountId, _actionHash: string, { block, transaction }: SoughtAction) {
        if (transaction === null) return Option.none()
        const chainId = chainIdOf(accountId)
        const nonce = operationNonceIn(transaction, accountId)
        if (nonce !== undefined) {
          const [isUsed] = yield* readOperationNonces(chainId, [{ accountId, nonce }], block)
          if (isUsed === false) return Option.none()
        }
        const receipt = yield* findReceipt(transaction, accountId)
        if (Option.isSome(receipt)) return Option.filter(receipt, ({ success }) => success)
        return yield* new ChainUnavailable({
          chainId,
          reason: `the account has acted by block ${block}, and no node shows in what`
        })
      },
      Effect.provideService(EvmClients, clients)
    )

    /** Times at which transactions were included, in milliseconds; what is known of one does not change. */
    const included = new Map<string, number>()
    const includedAt = Effect.fnUntraced(function* ({ accountId, txHash }: SoughtArrival["after"]) {
      const known = included.get(txHash)
      if (known !== undefined) return known
      const chainId = chainIdOf(accountId)
      const { confirmed } = yield* readDepth(chainId)
      const receipt = yield* confirmedReceipt(chainId, txHash as Hex, confirmed)
      if (receipt === null || receipt === "pending")
        return yield* new ChainUnavailable({ chainId, reason: `the node does not show ${txHash}` })
      const { blockNumber } = receipt
      const { timestamp } = yield* clients.request(chainId, "eth_getBlockByNumber", (client) =>
        client.getBlock({ blockNumber })
      )
      const oldest = included.keys().next().value
      if (included.size >= maxIncluded && oldest !== undefined) included.delete(oldest)
      included.set(txHash, Number(timestamp) * 1_000)
      return Number(timestamp) * 1_000
    })

    const incoming = Effect.fn("TransferReceipts.incoming")(
      function* (accountId: AccountId, sought: SoughtArrival) {
        const chainId = chainIdOf(accountId)
        const since: Since = { millis: yield* includedAt(sought.after), maxBlocks }
        const found = yield* concluded(chainId, yield* readEach(chainId, () => arrivalsAt(accountId, sought, since)))
        return [...new Set(found.flat())].slice(0, maxArrivals)
      },
      Effect.provideService(EvmClients, clients)
    )

    return TransferReceipts.of({ read, inclusionOf, incoming })
  })
)
