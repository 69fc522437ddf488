/** The decimals of tokens of all families: mints of Solana are read here, tokens of others are handed on. */
import { PublicKey } from "@solana/web3.js"
import { Array, Effect, Layer, Option, Result } from "effect"
import { addressOf, type AssetId, type ChainId, chainIdOf, namespaceOfChain } from "#domain/values/Caip.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { decodeMint } from "#layers/solana/token/Mint.ts"

/** Accounts of one request, as nodes take them. */
const accountsOfARequest = 100

export const SolanaTokens = Layer.effect(
  TokenReader,
  Effect.gen(function* () {
    const others = yield* TokenReader
    const rpc = yield* SolanaRpc

    const readMints = Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>) {
      const keys = assetIds.map((assetId) => new PublicKey(addressOf(assetId)))
      const { values } = yield* rpc.accounts(keys)
      return assetIds.map((assetId, index): readonly [AssetId, number | null] => {
        const mint = Option.flatMap(values[index]!, (account) => Result.getSuccess(decodeMint(keys[index]!, account)))
        return [assetId, Option.getOrNull(mint)?.decimals ?? null]
      })
    })

    const decimals = Effect.fn("TokenReader.decimals")(function* (chainId: ChainId, assetIds: ReadonlyArray<AssetId>) {
      if (namespaceOfChain(chainId) !== "solana") return yield* others.decimals(chainId, assetIds)
      return new Map((yield* Effect.forEach(Array.chunksOf(assetIds, accountsOfARequest), readMints)).flat())
    })

    return TokenReader.of({
      decimals,
      // A token account there is of one mint.
      areOne: (account, holdings) =>
        namespaceOfChain(chainIdOf(account)) === "solana" ? Effect.succeed(false) : others.areOne(account, holdings)
    })
  })
)
