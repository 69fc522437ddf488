/** Mints as the chain has them now. */
import { PublicKey } from "@solana/web3.js"
import { Effect, Option, Result } from "effect"
import { addressOf, solanaChainId, type SplAssetId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { SimulationFailed } from "#domain/trading/SwapBatches.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { decodeMint, type Mint } from "#layers/solana/token/Mint.ts"

/** Fails where one of the assets is no token that can be read. */
export const readMints = Effect.fn("solana.readMints")(function* (
  assetIds: ReadonlyArray<SplAssetId>
): Effect.fn.Return<ReadonlyMap<SplAssetId, Mint>, ChainUnavailable | SimulationFailed, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const wanted = [...new Set(assetIds)]
  const keys = wanted.map((assetId) => new PublicKey(addressOf(assetId)))
  const { values } = yield* rpc.accounts(keys)
  const entries = yield* Effect.forEach(wanted, (assetId, index) => {
    const decoded = Option.flatMap(values[index]!, (account) => Result.getSuccess(decodeMint(keys[index]!, account)))
    return Option.isSome(decoded)
      ? Effect.succeed([assetId, decoded.value] as const)
      : Effect.fail(new SimulationFailed({ chainId: solanaChainId, reason: `${assetId} cannot be read as a token` }))
  })
  return new Map(entries)
})
