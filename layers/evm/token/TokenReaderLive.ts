/** The decimals of ERC-20 tokens, by multicall. */
import { Effect, Layer } from "effect"
import { erc20Abi } from "viem"
import type { AssetId, ChainId } from "#domain/Caip.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"

const decimalsOf = callDataOf(erc20Abi, "decimals")
/** Of a `uint8`. */
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

    return TokenReader.of({ decimals })
  })
)
