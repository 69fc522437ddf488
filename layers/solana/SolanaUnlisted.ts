/** Tokens that an account on Solana holds and the catalogue does not have, by what their mints say of themselves. */
import { PublicKey } from "@solana/web3.js"
import { Effect, Layer } from "effect"
import { type AccountId, addressOf, type AssetId, namespaceOf } from "#domain/values/Caip.ts"
import { maxUnlisted, UnlistedHoldings } from "#domain/portfolio/UnlistedHoldings.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { readSymbols } from "#layers/solana/token/readSymbols.ts"

export const SolanaUnlisted = Layer.effect(
  UnlistedHoldings,
  Effect.gen(function* () {
    const others = yield* UnlistedHoldings
    const rpc = yield* SolanaRpc

    const unlisted = Effect.fn("UnlistedHoldings.of")(
      function* (account: AccountId, listed: ReadonlySet<AssetId>) {
        const { tokens } = yield* readHoldings(new PublicKey(addressOf(account)))
        const found = tokens
          .flatMap(({ assetId, raw, token }) =>
            raw === 0n || token === null || listed.has(assetId) ? [] : [{ assetId, raw, token }]
          )
          .sort((a, b) => (a.assetId < b.assetId ? -1 : 1))
          .slice(0, maxUnlisted)
        const symbols = yield* readSymbols(found.map(({ token }) => token))
        return found.map(({ assetId, raw, token: { decimals } }) => ({
          assetId,
          raw,
          decimals,
          symbol: symbols.get(addressOf(assetId)) ?? addressOf(assetId)
        }))
      },
      Effect.provideService(SolanaRpc, rpc)
    )

    return {
      of: (account, listed) =>
        namespaceOf(account) === "solana" ? unlisted(account, listed) : others.of(account, listed)
    }
  })
)
