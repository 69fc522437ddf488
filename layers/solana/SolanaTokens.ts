/**
 * The decimals of tokens of all families: mints of Solana are read here, tokens of others are handed on. A mint whose
 * own rules would keep its tokens in a portfolio is unfit for allocations; a pause of its issuer passes.
 */
import { PublicKey } from "@solana/web3.js"
import { Array, Effect, Layer, Option, Result } from "effect"
import { addressOf, type AssetId, type ChainId, chainIdOf, namespaceOfChain } from "#domain/values/Caip.ts"
import { TokenReader, type UnfitToken } from "#domain/chain/TokenReader.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { decodeMint, type Mint } from "#layers/solana/token/Mint.ts"
import { untradable } from "#layers/solana/trading/checkSwap.ts"

/** Accounts of one request, as nodes take them. */
const accountsOfARequest = 100

const fitnessOf = (mint: Mint): number | UnfitToken => {
  const refusal = untradable({ ...mint, isPaused: false })
  return refusal === undefined ? mint.decimals : { decimals: mint.decimals, refusal }
}

export const SolanaTokens = Layer.effect(
  TokenReader,
  Effect.gen(function* () {
    const others = yield* TokenReader
    const rpc = yield* SolanaRpc

    const readMints = Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>) {
      const keys = assetIds.map((assetId) => new PublicKey(addressOf(assetId)))
      const { values } = yield* rpc.accounts(keys)
      return assetIds.map((assetId, index): readonly [AssetId, number | UnfitToken | null] => {
        const mint = Option.flatMap(values[index]!, (account) => Result.getSuccess(decodeMint(keys[index]!, account)))
        return [assetId, Option.match(mint, { onNone: () => null, onSome: fitnessOf })]
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
