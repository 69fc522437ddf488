/**
 * What chains of a script make happen that real ones make seldom: silence, high fees, reverts, late bridges, and
 * faults.
 */
import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import type { AssetId, AccountId, EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { makeOperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { noFaults } from "#test/fault/crash/marketWorld.ts"
import type { Begun } from "#test/fault/crash/Scenario.ts"
import { acceptRevocation } from "#test/support/acceptedRevocation.ts"
import { acceptSwap } from "#test/support/acceptedSwap.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { marketPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestChain } from "#test/support/chains/TestMarket.ts"

const portfolio = Effect.fnUntraced(function* (connected: boolean, isGuarded = false) {
  const random = yield* SecureRandom.SecureRandom
  const owner = Eip55.checksum(`0x${Hex.encode(yield* random.randomBytes(20))}`) as EvmAddress
  return yield* marketPortfolio(owner, connected, isGuarded)
})

/** Submits a rebalance as its owner would. */
export const submitted = Effect.fnUntraced(function* (
  tenantId: TenantId,
  portfolioId: PortfolioId,
  accounts: ReadonlyArray<AccountId>
) {
  const operationId = yield* makeOperationId
  const store = yield* OperationStore
  yield* store.submitManual({ operationId, tenantId, portfolioId, now: yield* DateTime.now, cooldownMs: 0 })
  return { tenantId, portfolioId, operationId, accounts, kind: "rebalance" } satisfies Begun
})

const rebalance = (connected: boolean, reverts = 0) =>
  Effect.gen(function* () {
    const { accounts, portfolioId, tenantId } = yield* portfolio(connected)
    const market = yield* TestChain
    market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
    market.reverts.set(baseUsdc.chainId, reverts)
    return yield* submitted(tenantId, portfolioId, accounts)
  })

const withdrawal = (assets: ReadonlyArray<readonly [AssetId, bigint]>, liquidate = false) =>
  Effect.gen(function* () {
    const enrolled = yield* portfolio(false)
    const { portfolioId, tenantId } = enrolled
    const account = enrolled.accounts[0]
    const market = yield* TestChain
    market.fund(account, baseUsdc.assetId, 500_000_000n)
    market.fund(account, baseWeth.assetId, Decimal.one)
    const message = yield* messageOf(enrolled, account, { assets, changes: liquidate ? { liquidate } : {} })
    const operationId = yield* acceptWithdrawal(enrolled, { accountId: account, message })
    const begun: Begun = { tenantId, portfolioId, operationId, kind: "withdraw", accounts: [account] }
    return begun
  })

const revocation = (chains: "all" | "first", drops: number) =>
  Effect.gen(function* () {
    const { accounts, portfolioId, tenantId } = yield* portfolio(false)
    const market = yield* TestChain
    market.drops.set(baseUsdc.chainId, drops)
    const operationId = yield* acceptRevocation({ portfolioId, tenantId }, chains)
    const begun: Begun = { tenantId, portfolioId, operationId, kind: "revoke", accounts }
    return begun
  })

const swap = (soldRaw: bigint, reverts: number, expectedOfIssuer?: bigint) =>
  Effect.gen(function* () {
    const { accounts, portfolioId, tenantId } = yield* portfolio(false, expectedOfIssuer !== undefined)
    const [account] = accounts
    const market = yield* TestChain
    market.fund(account, baseUsdc.assetId, 500_000_000n)
    market.reverts.set(baseUsdc.chainId, reverts)
    const operationId = yield* acceptSwap({ portfolioId, tenantId }, account, { amountRaw: soldRaw, expectedOfIssuer })
    const begun: Begun = { tenantId, portfolioId, operationId, kind: "swap", accounts: [account] }
    return begun
  })

const twoHundredDollars = [[baseUsdc.assetId, 200_000_000n]] as const

export const marketScenarios = {
  "a withdrawal whose key is silent, whose fee is too low and whose receipt is not shown at first": {
    script: { ...noFaults, silence: 1, replacements: 1, unread: 1 },
    begin: withdrawal(twoHundredDollars),
    operations: 1
  },
  "a transfer whose first batch is reverted and whose bridge is late": {
    script: { ...noFaults, timeout: 2 },
    begin: rebalance(true, 1),
    operations: 3
  },
  "a rebalance on a chain whose nodes are behind at first": {
    script: { ...noFaults, behind: 7 },
    begin: rebalance(false),
    operations: 1
  },
  "a transfer of which gas becomes too dear, and which is taken back": {
    script: { ...noFaults, dear: 1 },
    begin: rebalance(true),
    operations: 3
  },
  "a swap of which gas becomes too dear, and which is taken back": {
    script: { ...noFaults, dear: 1 },
    begin: swap(200_000_000n, 0),
    operations: 1
  },
  "a rebalance that waits for its owner to sign anew": {
    script: { ...noFaults, unsigned: 1 },
    begin: rebalance(false),
    operations: 1
  },
  "a revocation on two chains": {
    script: noFaults,
    begin: revocation("all", 0),
    operations: 1
  },
  "a revocation on a chain that gives no answer at first": {
    script: noFaults,
    begin: revocation("first", 2),
    operations: 1
  },
  "a swap of its owner that is reverted at first": {
    script: noFaults,
    begin: swap(200_000_000n, 1),
    operations: 1
  },
  "a trade with an issuer that is reverted at first": {
    script: noFaults,
    begin: swap(200_000_000n, 1, 80_000_000_000_000_000n),
    operations: 1
  },
  "a swap of more than the account holds": {
    script: noFaults,
    begin: swap(501_000_000n, 0),
    operations: 1
  },
  "a swap in which the service is at fault": {
    script: { ...noFaults, fault: "prepare" },
    begin: swap(200_000_000n, 0),
    operations: 1
  },
  "a withdrawal that the chain refuses": {
    script: noFaults,
    begin: withdrawal([[baseUsdc.assetId, 501_000_000n]]),
    operations: 1
  },
  "a withdrawal in which the service is at fault": {
    script: { ...noFaults, fault: "verify" },
    begin: withdrawal(twoHundredDollars),
    operations: 1
  },
  "a withdrawal that is cancelled while its key is silent": {
    script: { ...noFaults, silence: 1, cancelled: "signing" },
    begin: withdrawal(twoHundredDollars),
    operations: 1
  },
  "a swap that is cancelled while its key is silent": {
    script: { ...noFaults, silence: 1, cancelled: "signing" },
    begin: swap(200_000_000n, 0),
    operations: 1
  },
  "a rebalance that is cancelled while it waits for its owner": {
    script: { ...noFaults, unsigned: 1_000, cancelled: "awaiting" },
    begin: rebalance(false),
    operations: 1
  },
  "a rebalance in which the service is at fault": {
    script: { ...noFaults, fault: "prepare" },
    begin: rebalance(false),
    operations: 1
  }
} as const

export type MarketScenario = keyof typeof marketScenarios
