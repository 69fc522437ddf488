/** Balances and prices in memory for valuations: what accounts hold at which block, and which chains answer. */
import { Context, DateTime, Effect, Layer } from "effect"
import { type AssetId, type ChainId, chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import { Prices, PricesUnavailable } from "#domain/market/Prices.ts"
import { readEach } from "#test/support/readEach.ts"

export class Ledger extends Context.Service<
  Ledger,
  {
    /** Balances by `<account> <asset>`; null for a token that does not answer. */
    readonly held: Map<string, bigint | null>
    /** Wei of the native coin by account. */
    readonly coins: Map<string, bigint>
    readonly prices: Map<AssetId, bigint>
    readonly down: Set<number>
    pricesDown: boolean
    /** Time at which the market showed the prices; undefined: just now. */
    pricesAsOf: DateTime.Utc | undefined
    block: bigint
    /** How often each chain was asked. */
    readonly asked: Map<number, number>
  }
>()("ballast/test/Ledger") {
  static readonly layer = Layer.sync(Ledger, () => ({
    held: new Map(),
    coins: new Map(),
    prices: new Map(),
    down: new Set<number>(),
    pricesDown: false,
    pricesAsOf: undefined,
    block: 100n,
    asked: new Map()
  }))
}

const BalancesFake = Layer.effect(
  Balances,
  Effect.map(Ledger, (ledger) => {
    const read: Balances["Service"]["read"] = Effect.fnUntraced(function* (account: AccountId, assetIds) {
      const chainId = chainIdOf(account)
      ledger.asked.set(chainId, (ledger.asked.get(chainId) ?? 0) + 1)
      if (ledger.down.has(chainId)) return yield* new ChainUnavailable({ chainId, reason: "taken down by the test" })
      const balances = assetIds.map((assetId) => {
        const raw = ledger.held.get(`${account} ${assetId}`)
        return { assetId, raw: raw === undefined ? 0n : raw }
      })
      const native = { assetId: nativeCoinOn(chainId)!.assetId, raw: ledger.coins.get(account) ?? 0n }
      return { blockNumber: ledger.block, blockTime: yield* DateTime.now, balances, native }
    })
    return Balances.of({ read, readMany: readEach(read) })
  })
)

const PricesFake = Layer.effect(
  Prices,
  Effect.map(Ledger, (ledger) =>
    Prices.of({
      latest: Effect.fnUntraced(function* (assetIds) {
        if (ledger.pricesDown) return yield* new PricesUnavailable({ reason: "taken down by the test" })
        const asOf = ledger.pricesAsOf ?? (yield* DateTime.now)
        return new Map(
          assetIds.flatMap((assetId) => {
            const usd = ledger.prices.get(assetId)
            return usd === undefined ? [] : [[assetId, { usd, asOf }] as const]
          })
        )
      })
    })
  )
)

const ChainsFake = Layer.succeed(Chains, { supported: [8453 as ChainId, 42161 as ChainId] })

/** The ledger and the ports over it. */
export const LedgerLive = Layer.mergeAll(BalancesFake, PricesFake, ChainsFake).pipe(Layer.provideMerge(Ledger.layer))
