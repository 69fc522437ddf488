/**
 * Balances by multicall: the tokens of an account, or of many accounts, and the confirmed block that they were read at,
 * in one request.
 */
import { DateTime, Effect, Layer, Result } from "effect"
import { encodeFunctionData, erc20Abi } from "viem"
import { type AssetId, type ChainId, chainIdOf, type AccountId } from "#domain/Caip.ts"
import { type AccountBalances, type AccountRequest, Balances } from "#domain/chain/Balances.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { readDepth } from "#layers/evm/execution/confirmedReceipt.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { blockNumberCalls, blockNumberIn } from "#layers/evm/rpc/blockNumber.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"

/** Calls of one request for many accounts: far below what nodes let an `eth_call` use and answer. */
const callsOfARequest = 500
/** Requests for one chain at a time. */
const requestConcurrency = 4

const timestampCall: Call = {
  target: multicall3,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" })
}

const balanceOf = callDataOf(erc20Abi, "balanceOf")

const balanceCalls = ({ account, assetIds }: AccountRequest): ReadonlyArray<Call> => {
  const data = balanceOf(toViem(addressOf(account)))
  return assetIds.map((assetId) => ({ target: toViem(addressOf(assetId)), data }))
}

/** The accounts in their order, as many in a group as fit into a request, and at least one. */
const groupsOf = (accounts: ReadonlyArray<AccountRequest>): ReadonlyArray<ReadonlyArray<AccountRequest>> => {
  const groups: Array<Array<AccountRequest>> = []
  let room = 0
  for (const account of accounts) {
    const group = groups.at(-1)
    if (group === undefined || account.assetIds.length > room) {
      groups.push([account])
      room = callsOfARequest - account.assetIds.length
    } else {
      group.push(account)
      room -= account.assetIds.length
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
    const confirmedBlock = Effect.fnUntraced(function* (chainId: ChainId) {
      const { confirmations } = yield* clients.chain(chainId)
      return confirmations === 1 ? undefined : (yield* readDepth(chainId)).confirmed
    })

    /** All in one request, so all at one block. */
    const readTogether = Effect.fnUntraced(
      function* (chainId: ChainId, accounts: ReadonlyArray<AccountRequest>) {
        const blockCalls = [timestampCall, ...blockNumberCalls(chainId)]
        const calls = [...blockCalls, ...accounts.flatMap(balanceCalls)]
        const results = yield* multicall(chainId, calls, { blockNumber: yield* confirmedBlock(chainId) })
        const [timestampResult, ...numberResults] = results.slice(0, blockCalls.length)
        const [timestamp, blockNumber] = [uintOf(timestampResult), blockNumberIn(numberResults)]
        const rest = results.slice(blockCalls.length).map(uintOf)
        if (timestamp === null || blockNumber === null) {
          return yield* new ChainUnavailable({
            chainId,
            reason: "Multicall3 does not answer the block; is it deployed on this chain?"
          })
        }
        const block = {
          blockNumber,
          blockTime: DateTime.makeUnsafe(Number(timestamp) * 1_000)
        }
        let read = 0
        return accounts.map(({ assetIds }): AccountBalances => ({
          ...block,
          balances: assetIds.map((assetId) => ({ assetId, raw: rest[read++] ?? null }))
        }))
      },
      Effect.provideService(EvmClients, clients)
    )

    const read = Effect.fn("Balances.read")(function* (account: AccountId, assetIds: ReadonlyArray<AssetId>) {
      const [balances] = yield* readTogether(chainIdOf(account), [{ account, assetIds }])
      return balances!
    })

    const readMany = Effect.fn("Balances.readMany")(function* (
      chainId: ChainId,
      accounts: ReadonlyArray<AccountRequest>
    ) {
      const read = yield* Effect.forEach(
        groupsOf(accounts),
        (group) =>
          Effect.map(Effect.result(readTogether(chainId, group)), (result) =>
            Result.isSuccess(result) ? result.success.map(Result.succeed) : group.map(() => Result.fail(result.failure))
          ),
        { concurrency: requestConcurrency }
      )
      return read.flat()
    })

    return Balances.of({ read, readMany })
  })
)
