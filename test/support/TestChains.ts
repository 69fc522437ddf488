/**
 * Test layers for chains and prices: the ports of the domain over an exact little market in memory.
 *
 * Swaps settle at the feed's prices less one hop's fee. A chain can be taken down, can revert the next operations, and
 * remembers every broadcast, so that a test can count what reached it.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Hex } from "effect/encoding"
import * as Amount from "#domain/Amount.ts"
import { type AssetId, type ChainId, chainIdOf, type EvmAccountId, type EvmAddress, addressOf } from "#domain/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { Prices } from "#domain/market/Prices.ts"
import { ChainExecution, SimulationFailed, Swap } from "#domain/rebalance/ChainExecution.ts"
import { Venue } from "#domain/rebalance/Venue.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import type { ActionReceipt, PreparedTransaction } from "#domain/relay/Transaction.ts"
import { catalogue } from "#test/support/assets.ts"

const feeBps = 30
const relayer = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const Payload = Schema.fromJsonString(Schema.Struct({ accountId: Schema.String, swaps: Schema.Array(Swap) }))

/** The knobs and counters of the market. */
export interface TestMarket {
  readonly fund: (account: EvmAccountId, assetId: AssetId, raw: bigint) => void
  readonly balance: (account: EvmAccountId, assetId: AssetId) => bigint
  /** US dollars (wad) a whole token. */
  readonly prices: Map<AssetId, bigint>
  readonly down: Set<number>
  /** How many of the next operations a chain includes and reverts. */
  readonly reverts: Map<number, number>
  /** How many distinct operations were included on any chain. */
  readonly included: Map<string, ActionReceipt>
}

export class TestChain extends Context.Service<TestChain, TestMarket>()("ballast/test/support/TestChain") {
  static readonly layer = Layer.sync(TestChain, () => {
    const balances = new Map<string, bigint>()
    const key = (account: string, assetId: string) => `${account} ${assetId}`
    return {
      fund: (account, assetId, raw) => {
        balances.set(key(account, assetId), (balances.get(key(account, assetId)) ?? 0n) + raw)
      },
      balance: (account, assetId) => balances.get(key(account, assetId)) ?? 0n,
      prices: new Map<AssetId, bigint>(),
      down: new Set<number>(),
      reverts: new Map<number, number>(),
      included: new Map<string, ActionReceipt>()
    }
  })
}

const output = (market: TestMarket, sell: AssetId, buy: AssetId, sellAmountRaw: bigint): bigint | null => {
  const [from, to] = [catalogue.get(sell), catalogue.get(buy)]
  const [fromPrice, toPrice] = [market.prices.get(sell), market.prices.get(buy)]
  if (from === undefined || to === undefined || fromPrice === undefined || toPrice === undefined) return null
  const value = (Amount.valueUsd(sellAmountRaw, from.decimals, fromPrice) * BigInt(10_000 - feeBps)) / 10_000n
  return Amount.fromUsd(value, to.decimals, toPrice)
}

const requireUp = (market: TestMarket, chainId: number) =>
  Effect.suspend(() =>
    market.down.has(chainId)
      ? Effect.fail(new ChainUnavailable({ chainId, reason: "taken down by the test" }))
      : Effect.void
  )

const BalancesTest = Layer.effect(
  Balances,
  Effect.gen(function* () {
    const market = yield* TestChain
    return Balances.of({
      read: (account, assetIds) =>
        Effect.gen(function* () {
          yield* requireUp(market, chainIdOf(account))
          const blockTime = yield* DateTime.now
          return {
            blockNumber: 1n,
            blockTime,
            balances: assetIds.map((assetId) => ({ assetId, raw: market.balance(account, assetId) }))
          }
        })
    })
  })
)

const VenueTest = Layer.effect(
  Venue,
  Effect.gen(function* () {
    const market = yield* TestChain
    return Venue.of({
      feeBps,
      quote: (chainId, _hubs, requests) =>
        Effect.as(
          requireUp(market, chainId),
          requests.map(({ sell, buy, sellAmountRaw }) => {
            const buyAmountRaw = output(market, sell, buy, sellAmountRaw)
            return buyAmountRaw === null
              ? null
              : { buyAmountRaw, path: [addressOf(sell), addressOf(buy)], priceImpactBps: 0 }
          })
        )
    })
  })
)

const settle = (market: TestMarket, chainId: ChainId, subject: string, txHash: string, raw: string) => {
  if (market.included.has(subject)) return
  const pendingReverts = market.reverts.get(chainId) ?? 0
  const success = pendingReverts === 0
  if (!success) market.reverts.set(chainId, pendingReverts - 1)
  const { accountId, swaps } = Schema.decodeUnknownSync(Payload)(
    new TextDecoder().decode(
      Uint8Array.from(
        raw
          .slice(2)
          .match(/../g)!
          .map((byte) => Number.parseInt(byte, 16))
      )
    )
  )
  const deltas = success
    ? swaps.flatMap(({ sell, buy, sellAmountRaw }) => [
        { assetId: sell, raw: -sellAmountRaw },
        { assetId: buy, raw: output(market, sell, buy, sellAmountRaw) ?? 0n }
      ])
    : []
  for (const delta of deltas) market.fund(accountId as EvmAccountId, delta.assetId, delta.raw)
  market.included.set(subject, { subject, txHash, blockNumber: 2n, success, gasUsed: 1n, deltas })
}

const hash = (label: string, n: number) => `0x${Hex.encode(label).padEnd(32, "0")}${n.toString(16).padStart(32, "0")}`

const ChainExecutionTest = Layer.effect(
  ChainExecution,
  Effect.gen(function* () {
    const market = yield* TestChain
    let drawn = 0
    return ChainExecution.of({
      prepare: (batch) =>
        Effect.gen(function* () {
          yield* requireUp(market, batch.chainId)
          const accountId = batch.authorization.chains.find(({ chainId }) => chainId === batch.chainId)!.accountId
          for (const { sell, sellAmountRaw } of batch.swaps) {
            if (market.balance(accountId, sell) < sellAmountRaw) {
              return yield* new SimulationFailed({ chainId: batch.chainId, reason: `balance of ${sell} is too low` })
            }
          }
          const payload = Schema.encodeSync(Payload)({ accountId, swaps: batch.swaps })
          return {
            chainId: batch.chainId,
            accountId,
            subject: hash("op", ++drawn),
            to: relayer,
            callData: `0x${Hex.encode(payload)}`,
            gasLimit: 1n,
            maxFeePerGas: 1n,
            maxPriorityFeePerGas: 1n,
            chainNonce: 0,
            fromBlock: 1n
          } satisfies PreparedTransaction
        }),
      find: ({ chainId, subject }) =>
        Effect.andThen(
          requireUp(market, chainId),
          Effect.sync(() => Option.fromUndefinedOr(market.included.get(subject)))
        )
    })
  })
)

const RelayerTest = Layer.effect(
  Relayer,
  Effect.gen(function* () {
    const market = yield* TestChain
    return Relayer.of({
      address: relayer,
      sign: ({ callData, chainId, fromBlock, subject }, nonce) =>
        Effect.succeed({ chainId, subject, nonce, txHash: hash("tx", nonce), raw: callData, fromBlock }),
      broadcast: ({ chainId, raw, subject, txHash }) =>
        Effect.andThen(
          requireUp(market, chainId),
          Effect.sync(() => settle(market, chainId, subject, txHash, raw))
        )
    })
  })
)

const PricesTest = Layer.effect(
  Prices,
  Effect.gen(function* () {
    const { prices } = yield* TestChain
    return Prices.of({
      latest: (assetIds) =>
        Effect.map(
          DateTime.now,
          (asOf) =>
            new Map(
              assetIds.flatMap((assetId) => {
                const usd = prices.get(assetId)
                return usd === undefined ? [] : [[assetId, { usd, asOf }] as const]
              })
            )
        )
    })
  })
)

const ChainsTest = Layer.succeed(Chains, Chains.of({ supported: [8453 as ChainId, 42161 as ChainId] }))

/** All chain and price ports over one market. */
export const TestChains = Layer.mergeAll(
  BalancesTest,
  VenueTest,
  ChainExecutionTest,
  RelayerTest,
  PricesTest,
  ChainsTest
).pipe(Layer.provideMerge(TestChain.layer))
