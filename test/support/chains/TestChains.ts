/**
 * Test layers for chains and prices: the ports of the domain over an exact little market in memory.
 *
 * Swaps settle at the feed's prices less one hop's fee. A chain can be taken down, can revert the next operations, and
 * remembers every broadcast, so that a test can count what reached it.
 */
import { type TaggedOperation, OperationTags } from "#domain/relay/OperationTags.ts"
import { DateTime, Effect, Layer, Option } from "effect"
import { type AssetId, type ChainId, chainIdOf, addressOf } from "#domain/values/Caip.ts"
import * as Amount from "#domain/values/Amount.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { Prices, PricesUnavailable } from "#domain/market/Prices.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { AuthorizationRequired, SwapBatches, SimulationFailed } from "#domain/trading/SwapBatches.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { Venue } from "#domain/trading/Venue.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import {
  Issuer,
  type IssuerQuote,
  IssuerRefused,
  IssuerSilent,
  IssuerTerms,
  type IssuerTrade
} from "#domain/trading/Issuer.ts"
import { RouteRefused, type RouteStatus, Routing, RoutingUnavailable } from "#domain/trading/Routing.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"
import { evmExecution } from "#layers/evm/address.ts"
import {
  feeBps,
  hash,
  output,
  requireUp,
  revertedBundleReceipt,
  takenBackReceipt,
  TestChain,
  write,
  writeBundle
} from "#test/support/chains/TestMarket.ts"
import { relayer, RelayerTest } from "#test/support/chains/TestRelayer.ts"
import { readEach } from "#test/support/readEach.ts"
import { RevocationTransactionsTest } from "#test/support/chains/TestRevocations.ts"
import { WithdrawalTransactionsTest } from "#test/support/chains/TestWithdrawals.ts"

export { TestChain } from "#test/support/chains/TestMarket.ts"

const BalancesTest = Layer.effect(
  Balances,
  Effect.gen(function* () {
    const market = yield* TestChain
    const read: Balances["Service"]["read"] = (account, assetIds, { takesOld } = {}) =>
      Effect.gen(function* () {
        const chainId = chainIdOf(account)
        yield* requireUp(market, chainId)
        const blockTime = yield* DateTime.now
        const isBehind = market.behind.has(chainId)
        const oldBecause = "the only node is behind, by the test"
        if (isBehind && takesOld !== true) return yield* new ChainUnavailable({ chainId, reason: oldBecause, isBehind })
        return {
          ...(isBehind ? { oldBecause } : {}),
          blockNumber: market.block(),
          blockTime,
          balances: assetIds.map((assetId) => ({ assetId, raw: market.balance(account, assetId) }))
        }
      })
    return Balances.of({ read, readMany: readEach(read) })
  })
)

const VenueTest = Layer.effect(
  Venue,
  Effect.gen(function* () {
    const market = yield* TestChain
    return Venue.of({
      assumedFeeBps: () => feeBps,
      quote: ({ chainId, requests }) =>
        Effect.as(
          requireUp(market, chainId),
          requests.map(({ sell, buy, sellAmountRaw }) => {
            const buyAmountRaw = output(market, { sell, buy }, sellAmountRaw)
            return buyAmountRaw === null
              ? null
              : {
                  buyAmountRaw,
                  execution: assumedExecution({ sell, buy }),
                  priceImpactBps: 0,
                  feeRaw: (sellAmountRaw * BigInt(feeBps)) / 10_000n,
                  furtherFeeBps: 0
                }
          })
        )
    })
  })
)

const SwapBatchesTest = Layer.effect(
  SwapBatches,
  Effect.gen(function* () {
    const market = yield* TestChain
    return SwapBatches.preparedBy((batch) =>
      Effect.gen(function* () {
        yield* requireUp(market, batch.chainId)
        const { accountId, permissionId } = batch.authorization.chains.find(({ chainId }) => chainId === batch.chainId)!
        if (market.revoked.has(`${accountId} ${permissionId}`)) {
          return yield* new AuthorizationRequired({
            chainId: batch.chainId,
            permissionId,
            cause: "permission_revoked",
            reason: "the owner removed the agent's permission"
          })
        }
        const traded = batch.swaps.flatMap(({ buy, sell }) => [sell, buy])
        const unattested = traded
          .filter((assetId) => market.unattested.has(assetId))
          .map((assetId) => ({ assetId, reason: "No attested price (STALE): the price is 700 s old" }))
        if (unattested.length > 0) {
          return yield* new SimulationFailed({ chainId: batch.chainId, reason: "no attested price", unattested })
        }
        const { marketFault } = market
        if (marketFault !== undefined)
          return yield* new SimulationFailed({ chainId: batch.chainId, reason: marketFault, marketFault })
        for (const { sell, sellAmountRaw } of batch.swaps) {
          if (market.balance(accountId, sell) < sellAmountRaw) {
            return yield* new SimulationFailed({ chainId: batch.chainId, reason: `balance of ${sell} is too low` })
          }
        }
        if (market.refusesRoutes && batch.swaps.some((swap) => evmExecution(swap).call !== undefined)) {
          return yield* new SimulationFailed({ chainId: batch.chainId, reason: "the route yields too little" })
        }
        if (market.bridgeIsPaused && (batch.transfers ?? []).length > 0)
          return yield* new SimulationFailed({ chainId: batch.chainId, reason: "the bridge is paused" })
        yield* market.at("prepare")
        const { settlement, swaps } = batch
        const withdrawal =
          settlement === undefined ? null : { message: settlement.message, keepRaw: settlement.keepRaw }
        const actionHash = hash("op", market.draw())
        const nonce = market.nonces.get(accountId) ?? 0
        market.nonces.set(accountId, nonce)
        if (batch.operationId !== undefined) market.tagged.set(actionHash, batch.operationId)
        return {
          _tag: "Evm" as const,
          chainId: batch.chainId,
          accountId,
          actionHash,
          to: relayer,
          callData: write({ accountId, swaps, transfers: batch.transfers ?? [], nonce, withdrawal }),
          gasLimit: 1n,
          ...(settlement === undefined && (batch.transfers ?? []).length === 0 ? { bundleGas: market.bundleGas } : {}),
          maxFeePerGas: 1n,
          maxPriorityFeePerGas: 1n,
          chainNonce: 0,
          laneNonces: [],
          fromBlock: 1n
        } satisfies PreparedTransaction
      })
    )
  })
)

const UserOperationsTest = Layer.effect(
  UserOperations,
  Effect.gen(function* () {
    const market = yield* TestChain
    return UserOperations.of({
      bundle: (operations) =>
        Effect.gen(function* () {
          yield* requireUp(market, operations[0].chainId)
          yield* market.at("bundle")
          const kept = [...operations.keys()].filter((index) => !market.refused.has(operations[index]!.accountId))
          const included = kept.map((index) => operations[index]!)
          return { transaction: { ...operations[0], callData: writeBundle(included) }, kept }
        })
    })
  })
)

const ActionReceiptsTest = Layer.effect(
  ActionReceipts,
  Effect.gen(function* () {
    const market = yield* TestChain
    return ActionReceipts.of({
      find: (transaction) =>
        Effect.andThen(
          requireUp(market, transaction.chainId),
          Effect.sync(() =>
            Option.fromUndefinedOr(
              market.included.get(transaction.actionHash) ??
                revertedBundleReceipt(market, transaction) ??
                takenBackReceipt(market, transaction)
            )
          )
        )
    })
  })
)

const OperationTagsTest = Layer.effect(
  OperationTags,
  Effect.gen(function* () {
    const market = yield* TestChain
    return OperationTags.of({
      find: ({ chainId, operationId }) =>
        Effect.andThen(
          requireUp(market, chainId),
          Effect.sync((): TaggedOperation => {
            const included = [...market.included.values()].filter(({ success }) => success)
            const receipt = included.find(({ actionHash }) => market.tagged.get(actionHash) === operationId)
            if (receipt === undefined) return { _tag: "Absent" }
            if (market.unsettledTags === 0) return { _tag: "Included", receipt }
            market.unsettledTags -= 1
            return { _tag: "Pending" }
          })
        )
    })
  })
)

const PricesTest = Layer.effect(
  Prices,
  Effect.gen(function* () {
    const market = yield* TestChain
    return Prices.of({
      latest: Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>) {
        if (!market.arePricesKnown) return yield* new PricesUnavailable({ reason: "taken down by the test" })
        const asOf = yield* DateTime.now
        return new Map(
          assetIds.flatMap((assetId) => {
            const usd = market.prices.get(assetId)
            return usd === undefined ? [] : [[assetId, { usd, asOf }] as const]
          })
        )
      })
    })
  })
)

/** A bridge that costs ten basis points; what becomes of a transfer is set in the market. */
const RoutingTest = Layer.effect(
  Routing,
  Effect.gen(function* () {
    const market = yield* TestChain
    return Routing.of({
      quote: ({ amountRaw, minRaw }) => {
        const expectedRaw = (amountRaw * 9_990n) / 10_000n
        if (!market.isRouting) return Effect.fail(new RoutingUnavailable({ reason: "taken down by the test" }))
        return market.refusal === undefined
          ? Effect.succeedSome({ tool: "test", minRaw, expectedRaw, durationSeconds: 1 })
          : Effect.fail(new RouteRefused({ reason: market.refusal }))
      },
      swapQuotes: ({ amountRaw, buy, sell }) =>
        Effect.sync(() => {
          const venueRaw = output(market, { sell, buy }, amountRaw)
          if (venueRaw === null || market.routeAdvantageBps === undefined) return []
          const expectedRaw = (venueRaw * (10_000n + market.routeAdvantageBps)) / 10_000n
          return [{ tool: "test", expectedRaw, minRaw: expectedRaw, gasUsd: 0n, step: null }]
        }),
      swapCall: (_, { step: __, ...terms }) => Effect.succeed({ ...terms, data: "0x" }),
      status: ({ txHash }) =>
        Effect.sync((): RouteStatus => market.routes.get(txHash) ?? { _tag: "Pending", detail: "on its way" })
    })
  })
)

/** An issuer that sells and takes back ether for dollars at the market's prices, less or more what a test says. */
const IssuerTest = Layer.effect(
  Issuer,
  Effect.gen(function* () {
    const market = yield* TestChain
    const quote = ({ amountRaw, buy, sell }: IssuerTrade): Effect.Effect<IssuerQuote, IssuerRefused | IssuerSilent> => {
      const { issuer } = market
      if (issuer.isDown) return Effect.fail(new IssuerSilent({ reason: "taken down by the test" }))
      if (issuer.refusal !== undefined) return Effect.fail(new IssuerRefused({ reason: issuer.refusal }))
      const [from, into] = [market.prices.get(sell.assetId) ?? 0n, market.prices.get(buy.assetId) ?? 1n]
      const fair = Amount.fromUsd(Amount.valueUsd(amountRaw, sell.decimals, from), buy.decimals, into)
      const receiveRaw = (fair * (10_000n + issuer.advantageBps)) / 10_000n
      return Effect.succeed({ receiveRaw, priceUsd: into, feeUsd: 0n })
    }
    return Issuer.of({
      quote,
      signedQuote: (trade) =>
        Effect.map(quote(trade), (quoted) => {
          market.issuer.words += 1
          return {
            ...quoted,
            issuer: "test",
            direct: { venue: addressOf(trade.buy.assetId), data: "0x" }
          }
        })
    })
  })
)

const TransferReceiptsTest = Layer.effect(
  TransferReceipts,
  Effect.gen(function* () {
    const market = yield* TestChain
    return TransferReceipts.of({
      inclusionOf: (accountId, actionHash) =>
        Effect.andThen(
          requireUp(market, chainIdOf(accountId)),
          Effect.sync(() =>
            Option.filter(Option.fromUndefinedOr(market.included.get(actionHash)), ({ success }) => success)
          )
        ),
      read: (accountId, txHash) =>
        Effect.andThen(
          requireUp(market, chainIdOf(accountId)),
          Effect.sync(() => Option.fromUndefinedOr(market.arrivals.get(`${accountId} ${txHash}`)))
        ),
      incoming: (accountId, { assetId, least, most }) =>
        Effect.andThen(
          requireUp(market, chainIdOf(accountId)),
          Effect.sync(() =>
            [...market.arrivals].flatMap(([key, { deltas }]) => {
              const [account, txHash] = key.split(" ")
              const isIt = deltas.some((one) => one.assetId === assetId && one.raw >= least && one.raw <= most)
              return account === accountId && txHash !== undefined && isIt ? [txHash] : []
            })
          )
        )
    })
  })
)

const ChainsTest = Layer.succeed(Chains, Chains.of({ supported: [8453 as ChainId, 42161 as ChainId] }))

/** All chain and price ports over one market. */
export const MarketPorts = Layer.mergeAll(
  BalancesTest,
  VenueTest,
  SwapBatchesTest,
  UserOperationsTest,
  ActionReceiptsTest,
  OperationTagsTest,
  RelayerTest,
  PricesTest,
  ChainsTest,
  FamiliesLive,
  RoutingTest,
  IssuerTest,
  Layer.succeed(IssuerTerms, { isOffered: true, deviationBps: 100 }),
  TransferReceiptsTest,
  RevocationTransactionsTest,
  WithdrawalTransactionsTest
)

/** Layer of the chains over a market in memory. */
export const TestChains = MarketPorts.pipe(Layer.provideMerge(TestChain.layer))
