/** Balances of all families of chains: those of Solana are read here, others are handed on. */
import { PublicKey } from "@solana/web3.js"
import { DateTime, Effect, Layer } from "effect"
import {
  type AccountId,
  addressOf,
  type AssetId,
  type ChainId,
  namespaceOf,
  namespaceOfChain
} from "#domain/values/Caip.ts"
import { type AccountBalances, type AccountRequest, Balances, type ReadingTerms } from "#domain/chain/Balances.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { foreignAuthorities, readHoldings } from "#layers/solana/token/readHoldings.ts"

const requestConcurrency = 4

/** Tokens of both programs, accounts of a mint summed, in raw units; a mint without an account is zero. */
export const SolanaBalances = Layer.effect(
  Balances,
  Effect.gen(function* () {
    const others = yield* Balances
    const rpc = yield* SolanaRpc

    const readOne = Effect.fnUntraced(
      function* (account: AccountId, assetIds: ReadonlyArray<AssetId>, { notBefore, takesOld }: ReadingTerms = {}) {
        const holdings = yield* readHoldings(new PublicKey(addressOf(account)), {
          atLeastSlot: takesOld === true ? 0n : (notBefore ?? 0n),
          mints: assetIds.map((assetId) => new PublicKey(addressOf(assetId)))
        })
        const { slot, time, tokens } = holdings
        const held = new Map<AssetId, bigint>(tokens.map(({ assetId, raw }) => [assetId, raw]))
        const balances: AccountBalances = {
          blockNumber: slot,
          blockTime: DateTime.makeUnsafe(Number(time) * 1_000),
          balances: assetIds.map((assetId) => ({ assetId, raw: held.get(assetId) ?? 0n })),
          authorities: foreignAuthorities(holdings)
        }
        return balances
      },
      Effect.provideService(SolanaRpc, rpc)
    )

    const read = Effect.fn("Balances.read")(
      (account: AccountId, assetIds: ReadonlyArray<AssetId>, terms?: ReadingTerms) =>
        namespaceOf(account) === "solana" ? readOne(account, assetIds, terms) : others.read(account, assetIds, terms)
    )

    const readMany = Effect.fn("Balances.readMany")((chainId: ChainId, accounts: ReadonlyArray<AccountRequest>) =>
      namespaceOfChain(chainId) === "solana"
        ? Effect.forEach(
            accounts,
            ({ account, assetIds, ...terms }) => Effect.result(readOne(account, assetIds, terms)),
            {
              concurrency: requestConcurrency
            }
          )
        : others.readMany(chainId, accounts)
    )

    return Balances.of({ read, readMany })
  })
)
