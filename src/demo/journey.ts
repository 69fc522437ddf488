/** One user's journey: enroll with one signature, fund, rebalance, watch the schedule follow the market. */
import { Effect } from "effect"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { type AssetId, ChainId, chainIdOf, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId, StrategyId } from "#domain/values/Ids.ts"
import { assetOf } from "#src/demo/assetOf.ts"
import { Ballast } from "#src/demo/Ballast.ts"
import { completed, timeout, poll } from "#src/demo/completed.ts"
import { JourneyFailed } from "#src/demo/JourneyFailed.ts"
import { marketOverview } from "#src/demo/marketOverview.ts"
import { line, step, table, title, type WeightRow } from "#src/demo/print.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"
import { sparkline } from "#src/demo/sparkline.ts"
import { withdraw } from "#src/demo/withdraw.ts"

/** Percent of the portfolio by chain and symbol; each chain has half. */
const target = [
  [8453, "USDC", 20],
  [8453, "WETH", 20],
  [8453, "cbBTC", 10],
  [42161, "USDC", 10],
  [42161, "WETH", 20],
  [42161, "WBTC", 10],
  [42161, "ARB", 10]
] as const

const fundingUsdc = 25_000n
const tolerance = 1

const createStrategy = Effect.gen(function* () {
  const ballast = yield* Ballast
  const assets = yield* Effect.forEach(target, ([chainId, symbol, percent]) =>
    Effect.map(assetOf(chainId, symbol), ({ assetId }) => ({ assetId, weight: percent * 100 }))
  )
  const created = yield* ballast.strategies.createStrategy({
    payload: {
      name: "Two chains, five assets",
      description: "Half of the value on each chain.",
      allocation: { assets },
      schedule: { type: "interval", frequency: "daily" }
    }
  })
  return created.data
})

/** What an owner with a key signs after stage 1: 32 bytes. */
const digestOf = (message: { readonly kind: string; readonly raw?: string }) =>
  message.raw === undefined
    ? Effect.fail(new JourneyFailed({ message: `Stage 1 answered ${message.kind}, not a digest` }))
    : Effect.succeed(message.raw as `0x${string}`)

const enroll = Effect.fnUntraced(function* (strategyId: StrategyId, owner: PrivateKeyAccount) {
  const ballast = yield* Ballast
  const draft = {
    ownerAccountId: evmWallet(owner.address as string as EvmAddress),
    strategyId,
    chainIds: [8453, 42161].map((id) => ChainId.make(id))
  }
  const stage1 = yield* step(
    "Stage 1: what the owner will authorize",
    Effect.map(ballast.enrollment.prepareEnrollment({ payload: draft }), ({ data }) => data),
    ({ message }) => `sign ${message.kind}`
  )
  const raw = yield* digestOf(stage1.message)
  const signature = yield* Effect.promise(() => owner.signMessage({ message: { raw } }))
  return yield* step(
    "Stage 2: one signature, the same account on each",
    Effect.map(
      ballast.enrollment.enroll({
        payload: {
          ...draft,
          flowId: stage1.flowId as never,
          accountIndex: stage1.accountIndex,
          agentAccountId: stage1.agentAccountId as never,
          signature,
          portfolioName: "Demo"
        }
      }),
      ({ data }) => data
    ),
    ({ smartAccounts }) => smartAccounts[0]!.accountId.slice(-42)
  )
})

const fund = Effect.fnUntraced(function* (accounts: ReadonlyArray<{ readonly accountId: string }>) {
  const sandbox = yield* Sandbox
  for (const { accountId } of accounts) {
    const { assetId, decimals } = yield* assetOf(Number(accountId.split(":")[1]), "USDC")
    yield* sandbox.faucet(accountId, assetId, fundingUsdc * 10n ** BigInt(decimals))
  }
})

const rebalance = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const ballast = yield* Ballast
  const submitted = yield* ballast.portfolios.rebalancePortfolio({
    params: { portfolioId },
    payload: undefined as never
  })
  return yield* completed(submitted.data.operationId as OperationId)
})

const showPositions = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const ballast = yield* Ballast
  const { data } = yield* ballast.portfolios.getPositions({ params: { portfolioId } })
  const chainValue = (chainId: number) =>
    data.assets
      .filter(({ assetId }) => chainIdOf(assetId as AssetId) === chainId)
      .reduce((sum, { valueUsd }) => sum + Number(valueUsd), 0)
  const chainTarget = (chainId: number) =>
    target.filter(([id]) => id === chainId).reduce((sum, [, , percent]) => sum + percent, 0)
  const rows = target.map(([chainId, symbol, percent]): WeightRow => {
    const held = data.assets.find((asset) => asset.symbol === symbol && chainIdOf(asset.assetId as AssetId) === chainId)
    const valueUsd = Number(held?.valueUsd ?? 0)
    return {
      chainId,
      symbol,
      balance: held?.balance ?? "0",
      valueUsd,
      weight: (100 * valueUsd) / Math.max(chainValue(chainId), 1),
      target: (100 * percent) / chainTarget(chainId)
    }
  })
  const isOnTarget = yield* table(rows, tolerance)
  yield* line(`total $${data.totalValueUsd}`)
  return isOnTarget
})

const lastRebalance = (portfolioId: PortfolioId) =>
  Effect.flatMap(Ballast, (ballast) => ballast.portfolios.getPortfolio({ params: { portfolioId } })).pipe(
    Effect.map(({ data }) => data.schedule?.lastRebalanceAt ?? null)
  )

const followMarket = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const sandbox = yield* Sandbox
  for (const chainId of [8453, 42161]) {
    const { assetId, priceUsd } = yield* assetOf(chainId, "WETH")
    yield* step(`WETH rises by a fifth on ${chainId}`, sandbox.setPrice(assetId, (Number(priceUsd) * 1.2).toFixed(2)))
  }
  const before = yield* lastRebalance(portfolioId)
  yield* step("A day passes", sandbox.advanceDays(1))
  yield* step(
    "The schedule rebalances by itself",
    lastRebalance(portfolioId).pipe(
      Effect.repeat({ schedule: poll, until: (at) => at !== before }),
      Effect.timeout(timeout)
    ),
    (at) => `at ${at}`
  )
})

/** Fails when a chain is more than one percent off its target at the end. */
export const journey = Effect.gen(function* () {
  yield* title("Enroll")
  const strategy = yield* step("A strategy over two chains", createStrategy, ({ strategyId }) => strategyId)
  const owner = privateKeyToAccount(generatePrivateKey())
  const portfolio = yield* enroll(strategy.strategyId as StrategyId, owner)
  const portfolioId = portfolio.portfolioId as PortfolioId
  yield* title("Fund and rebalance")
  yield* step(`${fundingUsdc} USDC to each account`, fund(portfolio.smartAccounts))
  yield* step("Rebalance on chain", rebalance(portfolioId), ({ operationId }) => operationId)
  const first = yield* showPositions(portfolioId)
  yield* title("Follow the market")
  yield* followMarket(portfolioId)
  const second = yield* showPositions(portfolioId)
  if (!first || !second)
    return yield* new JourneyFailed({ message: "A position is more than one percent off its target" })
  yield* title("Take something out")
  yield* withdraw(portfolioId, owner)
  yield* title("Watch the market")
  yield* marketOverview
  yield* sparkline("TSLA", 12)
  yield* title("Both chains were on target with real balances, and the owner has the requested assets.")
})
