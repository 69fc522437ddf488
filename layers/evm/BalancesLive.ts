/**
 * Balances by multicall: the tokens and the native coin of an account, or of many accounts, how many operations the
 * agent has done for it, and the confirmed block that all of it was read at, in one request.
 */
import { DateTime, Effect, Layer, Result } from "effect"
import { erc20Abi, type Hex } from "viem"
import { type AssetId, type ChainId, chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { type AccountBalances, type AccountRequest, Balances, type ReadingTerms } from "#domain/chain/Balances.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { readDepth } from "#layers/evm/execution/confirmedReceipt.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { oldReason } from "#layers/provider/chainHeads.ts"
import { countIn, operationCountCalls } from "#layers/evm/execution/chainState.ts"
import { readAtOneBlock, uintOf } from "#layers/evm/rpc/multicall.ts"

/** Calls of one request for many accounts: far below what nodes let an `eth_call` use and answer. */
const callsOfARequest = 500
/** Requests for one chain at a time. */
const requestConcurrency = 4

const balanceOf = callDataOf(erc20Abi, "balanceOf")
const getEthBalance = callDataOf(multicall3Abi, "getEthBalance")

/** The balances, that of the native coin, then what counts the operations. */
const callsOf = ({ account, assetIds, permissionId }: AccountRequest): ReadonlyArray<Call> => {
  const holder = toViem(addressOf(account))
  const data = balanceOf(holder)
  return [
    ...assetIds.map((assetId) => ({ target: toViem(addressOf(assetId)), data })),
    { target: multicall3, data: getEthBalance(holder) },
    ...(permissionId === undefined ? [] : operationCountCalls(holder, permissionId as Hex))
  ]
}

const later = (one: bigint | undefined, other: bigint): bigint => (one !== undefined && one > other ? one : other)

/** The accounts in their order, as many in a group as fit into a request, and at least one. */
const groupsOf = (accounts: ReadonlyArray<AccountRequest>): ReadonlyArray<ReadonlyArray<AccountRequest>> => {
  const groups: Array<Array<AccountRequest>> = []
  let room = 0
  for (const account of accounts) {
    const group = groups.at(-1)
    const calls = callsOf(account).length
    if (group === undefined || calls > room) {
      groups.push([account])
      room = callsOfARequest - calls
    } else {
      group.push(account)
      room -= calls
    }
  }
  return groups
}

export const BalancesLive = Layer.effect(
  Balances,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    /**
     * Balances are of the same depth as receipts: what left or arrived in a block that may still be taken back shows in
     * both or in neither. Where one block is enough that is the latest, which needs no request.
     */
    const confirmedBlock = Effect.fnUntraced(function* (chainId: ChainId, notBefore: bigint | undefined) {
      const { confirmations } = yield* clients.chain(chainId)
      const depth = BigInt(confirmations) - 1n
      if (depth === 0n) return { depth, blockNumber: undefined }
      const { confirmed } = yield* readDepth(chainId, { notBefore, takesOld: true })
      return { depth, blockNumber: confirmed }
    })

    /** All in one request, so all at one block, which is held against what each of them must be. */
    const readTogether = Effect.fnUntraced(
      function* (chainId: ChainId, accounts: ReadonlyArray<AccountRequest>) {
        const due = yield* clients.due(chainId)
        const notBefore = accounts.reduce((most, one) => later(one.notBefore, most), 0n)
        const { blockNumber: pinned, depth } = yield* confirmedBlock(chainId, notBefore)
        const reading = yield* readAtOneBlock(chainId, accounts.flatMap(callsOf), {
          blockNumber: pinned,
          notBefore,
          takesOld: true
        })
        const { blockNumber, old, timestamp } = reading
        const coin = nativeCoinOn(chainId)
        const block = { blockNumber, blockTime: DateTime.makeUnsafe(Number(timestamp) * 1_000) }
        let read = 0
        return accounts.map((request) => {
          const { assetIds, permissionId, takesOld } = request
          const results = reading.results.slice(read, (read += callsOf(request).length))
          const least = later(request.notBefore, due > depth ? due - depth : 0n)
          const aged = old?.isOldForAll === true ? old.reason : undefined
          const reason = blockNumber < least ? oldReason(blockNumber, least) : aged
          if (reason !== undefined && takesOld !== true)
            return Result.fail(new ChainUnavailable({ chainId, reason, isBehind: true }))
          const operations = permissionId === undefined ? undefined : countIn(results.slice(assetIds.length + 1))
          const balances: AccountBalances = {
            ...block,
            balances: assetIds.map((assetId, index) => ({ assetId, raw: uintOf(results[index]) })),
            ...(coin === undefined ? {} : { native: { assetId: coin.assetId, raw: uintOf(results[assetIds.length]) } }),
            ...(operations === undefined ? {} : { operations }),
            ...(reason === undefined ? {} : { oldBecause: reason })
          }
          return Result.succeed(balances)
        })
      },
      Effect.provideService(EvmClients, clients)
    )

    const read = Effect.fn("Balances.read")(function* (
      account: AccountId,
      assetIds: ReadonlyArray<AssetId>,
      terms: ReadingTerms = {}
    ) {
      const [balances] = yield* readTogether(chainIdOf(account), [{ account, assetIds, ...terms }])
      return yield* Effect.fromResult(balances!)
    })

    const readMany = Effect.fn("Balances.readMany")(function* (
      chainId: ChainId,
      accounts: ReadonlyArray<AccountRequest>
    ) {
      const read = yield* Effect.forEach(
        groupsOf(accounts),
        (group) =>
          Effect.map(Effect.result(readTogether(chainId, group)), (result) =>
            Result.isSuccess(result) ? result.success : group.map(() => Result.fail(result.failure))
          ),
        { concurrency: requestConcurrency }
      )
      return read.flat()
    })

    return Balances.of({ read, readMany })
  })
)
