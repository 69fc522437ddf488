/** The decimals of ERC-20 tokens, by multicall, and whether two of them are one, by a transfer that is made up. */
import { Effect, Layer } from "effect"
import { BaseError, erc20Abi, isHex } from "viem"
import { type AccountId, type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { type EqualHoldings, TokenReader } from "#domain/chain/TokenReader.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { multicall3 } from "#layers/evm/contracts.ts"
import { decodeResults, encodeCalls } from "#layers/evm/rpc/aggregate.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"

const decimalsOf = callDataOf(erc20Abi, "decimals")
const balanceOf = callDataOf(erc20Abi, "balanceOf")
const transfer = callDataOf(erc20Abi, "transfer")
/** Largest `uint8`. */
const maxAnswer = 255n

export const TokenReaderLive = Layer.effect(
  TokenReader,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const decimals = Effect.fn("TokenReader.decimals")(
      function* (chainId: ChainId, assetIds: ReadonlyArray<AssetId>) {
        const data = decimalsOf()
        const calls = assetIds.map((assetId) => ({ target: toViem(addressOf(assetId)), data }))
        const results = yield* multicall(chainId, calls)
        return new Map(
          assetIds.map((assetId, index) => {
            const answer = uintOf(results[index])
            return [assetId, answer === null || answer > maxAnswer ? null : Number(answer)] as const
          })
        )
      },
      Effect.provideService(EvmClients, clients)
    )

    /**
     * Puts Multicall3 in the account's place for the length of one call, so that it makes the transfer itself: balances
     * of both before, a transfer of half, balances of both after.
     */
    const areOne = Effect.fn("TokenReader.areOne")(function* (account: AccountId, { one, other, raw }: EqualHoldings) {
      const chainId = chainIdOf(account)
      const [holder, first, second] = [toViem(addressOf(account)), toViem(addressOf(one)), toViem(addressOf(other))]
      const reads = [first, second].map((target) => ({ target, data: balanceOf(holder) }))
      const move = { target: first, data: transfer(multicall3, raw / 2n + 1n) }
      const data = encodeCalls([...reads, move, ...reads])
      const answer = yield* clients.request(chainId, "eth_call", async (client) => {
        const code = await client.getCode({ address: multicall3 })
        if (code === undefined) throw new BaseError("Multicall3 is not there", { name: "MulticallIncomplete" })
        return await client.call({ to: holder, data, stateOverride: [{ address: holder, code }] })
      })
      const results = isHex(answer.data) ? decodeResults(answer.data) : []
      const [oneBefore, otherBefore, , oneAfter, otherAfter] = results.map(uintOf)
      if (results[2]?.success !== true || oneBefore == null || oneAfter == null || oneAfter >= oneBefore) return null
      return oneBefore === otherBefore && oneAfter === otherAfter
    })

    return TokenReader.of({ decimals, areOne })
  })
)
