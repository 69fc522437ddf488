/** Skips that come from readings, quotes and simulations name their figures, as those of plans do. */
import { assert, it as plainIt, layer } from "@effect/vitest"
import { Effect, Layer, Option, Result } from "effect"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { unvaluedSkip } from "#domain/planning/explainSkips.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import { cancelledSkip, unsignedSkip } from "#domain/rebalance/chainOutcomes.ts"
import { unpriced } from "#domain/rebalance/plan/RunPlanner.ts"
import { type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import { priceSale } from "#domain/trading/priceSale.ts"
import { RouteRefused, Routing, RoutingUnavailable } from "#domain/trading/Routing.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { makeQuoteTransfer } from "#domain/trading/quoteTransfer.ts"
import type { Quote } from "#domain/trading/Venue.ts"
import { codesOfPlans } from "#test/domain/planning/codesOfPlans.ts"
import {
  account,
  btcLeg,
  context,
  funded,
  gasOfDay,
  prepared,
  Preparer,
  usdcLeg
} from "#test/domain/rebalance/preparing.ts"
import { arbUsdc, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestSettings, testSettings } from "#test/support/settings.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"
import { addressOf, evmPolicy } from "#layers/evm/address.ts"

/** The codes that were checked. */
const seen = new Set<SkipCode>(codesOfPlans)

const amount = /[0-9]+\.[0-9]{2} USD/u

const check = (code: SkipCode, figure: RegExp, skips: ReadonlyArray<RecordedSkip>): void => {
  const found = skips.filter((skip) => skip.code === code)
  assert.isNotEmpty(found, `${code} among ${skips.map((skip) => skip.code).join()}`)
  for (const { reason, valueUsd } of found) {
    assert.match(reason, figure, code)
    if (valueUsd !== null) assert.include(reason, `${Decimal.format(valueUsd, 2)} USD`, code)
  }
  seen.add(code)
}

const quote = (buyAmountRaw: bigint, part: Partial<Quote> = {}): Quote => ({
  buyAmountRaw,
  priceImpactBps: 0,
  execution: assumedExecution({ sell: baseUsdc.assetId, buy: baseWeth.assetId }),
  feeRaw: null,
  furtherFeeBps: 0,
  ...part
})
const limits = { slippageBps: 50, priceImpactBps: 100 }

plainIt("skips of quotes name what is not traded, and the limits that they were held against", () => {
  const refused = (part: Quote | null, leg = usdcLeg, more = {}) => {
    const verdict = priceSale(leg, part, { ...limits, ...more })
    return Result.isFailure(verdict) ? [verdict.failure] : []
  }
  check(SkipCode.noRoute, amount, refused(null))
  check(
    SkipCode.priceImpact,
    /by 101 basis points, the limit is 100.* USD/u,
    refused(quote(1n, { priceImpactBps: 101 }))
  )
  check(SkipCode.priceImpact, /[0-9]+ basis points less .* limit is [0-9]+.* USD/u, refused(quote(1n)))
  check(SkipCode.belowMinTrade, amount, refused(quote(0n), { ...usdcLeg, expectedBuyRaw: 1n }))
  const slicing = { poolShareBps: 70, minUsd: Decimal.one, sold: [] }
  const nothing = refused(quote(0n, { sellAmountRaw: 0n }), usdcLeg, { slicing })
  check(SkipCode.sliced, /100 basis points .* 70 basis points/u, nothing)
})

const transfer = {
  sell: baseUsdc.assetId,
  buy: arbUsdc.assetId,
  amountRaw: 5_000_000_000n,
  valueUsd: 5_000n * Decimal.one,
  expectedRaw: 4_995_000_000n
}

plainIt("skips of transfers name what stays on its chain", async () => {
  const destinations = [{ chainId: arbUsdc.chainId, token: addressOf(arbUsdc.assetId) }] as const
  const bridge = { contract: addressOf(baseBtc.assetId), token: addressOf(baseUsdc.assetId), destinations }
  const [chain] = context.grants[0]!.authorization.chains
  const authorized: ChainAuthorization = { ...chain!, policy: { ...evmPolicy(chain!), bridge } }
  const skipsOf = async (answer: Routing["Service"]["quote"], planned = transfer, on = authorized) => {
    const asked = Effect.flatMap(makeQuoteTransfer, (quoteTransfer) => quoteTransfer(on, planned))
    const found = await Effect.runPromise(Effect.provide(asked, [Layer.mock(Routing, { quote: answer }), TestSettings]))
    return Result.isFailure(found) ? [found.failure] : []
  }
  const none: Routing["Service"]["quote"] = () => Effect.succeed(Option.none())
  check(SkipCode.noRoute, amount, await skipsOf(none))
  check(SkipCode.notAuthorized, amount, await skipsOf(none, transfer, chain!))
  check(SkipCode.belowMinTransfer, amount, await skipsOf(none, { ...transfer, expectedRaw: 0n }))
  const refuses = () => Effect.fail(new RouteRefused({ reason: "another recipient" }))
  check(SkipCode.transferRefused, amount, await skipsOf(refuses))
  const isDown = () => Effect.fail(new RoutingUnavailable({ reason: "down" }))
  check(SkipCode.routesUnavailable, amount, await skipsOf(isDown))
})

plainIt("skips of what could not be read name the share of the portfolio that waits", () => {
  const allocation = [
    { assetId: baseUsdc.assetId, weight: 2_550 },
    { assetId: baseWeth.assetId, weight: 1_500 },
    { assetId: arbUsdc.assetId, weight: 5_950 }
  ]
  const chains = [{ chainId: baseUsdc.chainId, available: false, holdings: [] }]
  const preferences = { thresholdUsd: Decimal.one }
  const { skips } = plan({ allocation, chains, preferences, feeBps: 30 }).chains[0]!
  check(SkipCode.chainUnavailable, /its 40\.50 percent/u, skips)
  check(SkipCode.pricesUnavailable, /40\.50 percent/u, [unpriced(baseUsdc.chainId, { allocation })])
})

plainIt("skips of a token without an answer name no figure, since none is known", () => {
  check(SkipCode.balanceUnknown, /does not answer/u, [
    unvaluedSkip(baseUsdc.chainId, { assetId: baseBtc.assetId, weight: 0, isUnread: true })
  ])
})

plainIt("skips of what no market backs name its value by its price, and what the venues pay", () => {
  const unbacked = { valueUsd: 499n * Decimal.one, paidUsd: 3n * Decimal.one }
  check(SkipCode.noMarket, /at most 3\.00 USD for what is worth 499\.00 USD/u, [
    unvaluedSkip(baseUsdc.chainId, { assetId: baseBtc.assetId, weight: 0, isUnread: false, unbacked })
  ])
})

plainIt("skips of what waits for its owner name what is to be traded", () => {
  const chain = { chainId: baseUsdc.chainId, legs: [usdcLeg, btcLeg], transfers: [transfer], skips: [] }
  check(SkipCode.signatureRequired, /10000\.00 USD/u, [unsignedSkip(chain, "the permission was revoked")])
  check(SkipCode.cancelled, /10000\.00 USD/u, [cancelledSkip(chain)])
})

layer(Preparer, { excludeTestServices: true })("skips of simulations", (it) => {
  it.effect("name what is not traded", () =>
    Effect.gen(function* () {
      yield* funded
      const market = yield* TestChain
      check(SkipCode.simulationFailed, amount, (yield* prepared(1, 0, [usdcLeg, btcLeg])).skips)
      market.fund(account, baseBtc.assetId, 10_000_000n)
      market.unattested.add(baseBtc.assetId)
      check(SkipCode.priceNotAttested, amount, (yield* prepared(1, 0, [btcLeg])).skips)
    })
  )

  it.effect("of prices that the chain does not take say which fault it is", () =>
    Effect.gen(function* () {
      yield* funded
      const market = yield* TestChain
      market.marketFault = "feed_stale"
      check(SkipCode.feedStale, amount, (yield* prepared(1, 0, [usdcLeg])).skips)
      market.marketFault = "sequencer_down"
      check(SkipCode.sequencerDown, amount, (yield* prepared(1, 0, [usdcLeg])).skips)
      market.marketFault = undefined
    })
  )

  it.effect("and of chains that stop answering name it too, and budgets of gas what was used of how much", () =>
    Effect.gen(function* () {
      yield* funded
      const market = yield* TestChain
      Object.assign(gasOfDay, { portfolio: testSettings.gas.portfolioPerDay })
      check(SkipCode.gasRefused, /[0-9]+ of [0-9]+/u, (yield* prepared(1, 0)).skips)
      Object.assign(gasOfDay, { portfolio: 0n })
      market.down.add(baseUsdc.chainId)
      const chain = { chainId: baseUsdc.chainId, legs: [usdcLeg], skips: [] }
      const seenNow = yield* (yield* BatchPreparer).preview(context, {
        chain,
        limits: { slippageBps: 50, priceImpactBps: 100 }
      })
      check(SkipCode.chainUnavailable, amount, seenNow.skips)
      market.down.clear()
    })
  )
})

plainIt("no code was forgotten", () => assert.deepStrictEqual([...seen].sort(), Object.values(SkipCode).sort()))
