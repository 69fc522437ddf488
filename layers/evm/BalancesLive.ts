/** Balances by one multicall: the tokens and the block that they were read at, in a single request. */
import { DateTime, Effect, Layer } from "effect"
import { encodeFunctionData, erc20Abi, parseAbi } from "viem"
import { addressOf, type AssetId, chainIdOf, type EvmAccountId } from "#domain/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { toViem } from "#layers/evm/address.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { type Call, multicall, uintOf } from "#layers/evm/multicall.ts"

const timestampCall: Call = {
  target: multicall3,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" })
}

const blockNumberCall: Call = {
  target: multicall3,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: "getBlockNumber" })
}

/** On Arbitrum `block.number` is Ethereum's; the chain's own number comes from its system contract (ArbSys). Arbitrum One, Sepolia. */
const arbitrumChains: ReadonlySet<number> = new Set([42_161, 421_614])
const arbitrumBlockNumberCall: Call = {
  target: "0x0000000000000000000000000000000000000064",
  data: encodeFunctionData({ abi: parseAbi(["function arbBlockNumber() view returns (uint256)"]) })
}

const balanceCall = (account: EvmAccountId, assetId: AssetId): Call => ({
  target: toViem(addressOf(assetId)),
  data: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [toViem(addressOf(account))] })
})

export const BalancesLive = Layer.effect(
  Balances,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const read = Effect.fn("Balances.read")(
      function* (account: EvmAccountId, assetIds: ReadonlyArray<AssetId>) {
        const chainId = chainIdOf(account)
        const results = yield* multicall(chainId, [
          timestampCall,
          blockNumberCall,
          ...(arbitrumChains.has(chainId) ? [arbitrumBlockNumberCall] : []),
          ...assetIds.map((assetId) => balanceCall(account, assetId))
        ])
        const [timestamp, blockNumber, ...rest] = results.map(uintOf)
        const ownBlockNumber = arbitrumChains.has(chainId) ? rest.shift() : undefined
        if (timestamp == null || blockNumber == null) {
          return yield* new ChainUnavailable({
            chainId,
            reason: "Multicall3 does not tell the block; is it deployed on this chain?"
          })
        }
        return {
          blockNumber: ownBlockNumber ?? blockNumber,
          blockTime: DateTime.makeUnsafe(Number(timestamp) * 1_000),
          balances: assetIds.map((assetId, index) => ({ assetId, raw: rest[index] ?? null }))
        }
      },
      Effect.provideService(EvmClients, clients)
    )

    return Balances.of({ read })
  })
)
