import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { erc20, evmAccount, EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PortfolioId, StrategyId, TenantId } from "#domain/values/Ids.ts"
import { type AccountAnswer, assemblePositions, type Readings } from "#domain/portfolio/assemblePositions.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { arbUsdc, baseBtc, baseUsdc, baseWeth, catalogue } from "#test/support/assets.ts"
import { addressOf } from "#layers/evm/address.ts"

const time = DateTime.makeUnsafe(0)
const address = addressOf(baseWeth.assetId)
const onBase = evmAccount(baseUsdc.chainId, address)
const onArbitrum = evmAccount(arbUsdc.chainId, address)
const portfolio: Portfolio = {
  guardedAccounts: [],
  portfolioId: "pf_01J00000000000000000000000" as PortfolioId,
  tenantId: "tn_01J00000000000000000000000" as TenantId,
  name: null,
  ownerAccountId: evmWallet(address),
  strategyId: "01J00000000000000000000000" as StrategyId,
  strategyName: "s",
  strategyDescription: null,
  strategyVersion: 1,
  smartAccounts: [onBase, onArbitrum],
  schedule: null,
  createdAt: time,
  updatedAt: time
}
const price = (usd: bigint) => ({ usd: usd * Decimal.one, asOf: time })
const read = (
  account: typeof onBase,
  ...balances: ReadonlyArray<readonly [typeof baseUsdc, bigint | null]>
): AccountAnswer => ({
  account,
  result: { _tag: "Read", balances: balances.map(([{ assetId }, raw]) => ({ assetId, raw })), unlisted: [] }
})
const evmAddress = (last: bigint) => EvmAddress.make(`0x${last.toString(16).padStart(40, "0")}`)
const down = (account: typeof onBase): AccountAnswer => ({ account, result: { _tag: "Failed", reason: "timeout" } })
const assemble = (accounts: ReadonlyArray<AccountAnswer>, overrides: Partial<Readings> = {}) =>
  assemblePositions(portfolio, {
    accounts,
    catalogue,
    prices: new Map([
      [baseUsdc.assetId, price(1n)],
      [baseWeth.assetId, price(2500n)],
      [arbUsdc.assetId, price(1n)]
    ]),
    targets: [],
    transfers: [],
    transfersAreWhole: true,
    fetchedAt: time,
    priceMaxAgeMs: 600_000,
    ...overrides
  })
const kinds = (positions: ReturnType<typeof assemble>) => positions.warnings.map(({ kind }) => kind)

describe("positions", () => {
  it("show unlisted tokens last, without a value and outside of the total, and say so once an account", () => {
    const unlisted = [7n, 8n].map((raw) => ({
      assetId: erc20(baseUsdc.chainId, evmAddress(raw)),
      raw,
      symbol: "FREE",
      decimals: 2
    }))
    const { account } = read(onBase)
    const balances = [{ assetId: baseUsdc.assetId, raw: 10_000_000n }]
    const positions = assemble([{ account, result: { _tag: "Read", balances, unlisted } }])
    assert.deepStrictEqual(
      positions.assets.map(({ balanceRaw, decimals, symbol, valueUsd }) => [symbol, decimals, balanceRaw, valueUsd]),
      [
        ["USDC", baseUsdc.decimals, 10_000_000n, 10n * Decimal.one],
        ["FREE", 2, 7n, null],
        ["FREE", 2, 8n, null]
      ]
    )
    assert.strictEqual(positions.totalValueUsd, 10n * Decimal.one)
    assert.deepStrictEqual(kinds(positions), ["MISSING_ASSET"])
    assert.match(positions.warnings[0]!.message, /^2 of the tokens that eip155:8453:0x\w+ holds are not in the asset/u)
  })

  it("value what is held, most valuable first, and leave out what is not", () => {
    const positions = assemble([
      read(onBase, [baseUsdc, 10_000_000n], [baseWeth, 10n ** 18n]),
      read(onArbitrum, [arbUsdc, 0n])
    ])
    assert.deepStrictEqual(
      positions.assets.map(({ symbol, valueUsd }) => [symbol, valueUsd]),
      [
        ["WETH", 2500n * Decimal.one],
        ["USDC", 10n * Decimal.one]
      ]
    )
    assert.strictEqual(positions.totalValueUsd, 2510n * Decimal.one)
    assert.isEmpty(positions.warnings)
  })

  it("keep what loaded when a chain is down", () => {
    const positions = assemble([read(onBase, [baseUsdc, 1_000_000n]), down(onArbitrum)])
    assert.lengthOf(positions.assets, 1)
    assert.deepStrictEqual(kinds(positions), ["RPC_ERROR"])
  })

  it("that could only be read from an old block are shown, and say so", () => {
    const { account } = read(onBase)
    const balances = [{ assetId: baseUsdc.assetId, raw: 1_000_000n }]
    const oldBecause = "its node is at block 5, before block 9"
    const positions = assemble([{ account, result: { _tag: "Read", balances, unlisted: [], oldBecause } }])
    assert.strictEqual(positions.totalValueUsd, Decimal.one)
    assert.deepStrictEqual(kinds(positions), ["STALE_BALANCES"])
    assert.include(positions.warnings[0]!.message, oldBecause)
  })

  it("that somebody else may move are shown, with who", () => {
    const { account } = read(onBase)
    const balances = [{ assetId: baseUsdc.assetId, raw: 1_000_000n }]
    const authorities = [{ assetId: baseUsdc.assetId, holder: "thief" }]
    const positions = assemble([{ account, result: { _tag: "Read", balances, unlisted: [], authorities } }])
    assert.strictEqual(positions.totalValueUsd, Decimal.one)
    assert.deepStrictEqual(kinds(positions), ["FOREIGN_AUTHORITY"])
    assert.include(positions.warnings[0]!.message, `thief may move ${baseUsdc.assetId}`)
  })

  it("are empty with a warning an account when every chain is down", () => {
    const positions = assemble([down(onBase), down(onArbitrum)])
    assert.isEmpty(positions.assets)
    assert.strictEqual(positions.totalValueUsd, 0n)
    assert.deepStrictEqual(kinds(positions), ["RPC_ERROR", "RPC_ERROR"])
  })

  it("show a holding without a price and leave it out of the total", () => {
    const positions = assemble([read(onBase, [baseBtc, 5n], [baseUsdc, 1_000_000n])])
    assert.deepStrictEqual(
      positions.assets.map(({ valueUsd }) => valueUsd),
      [Decimal.one, null]
    )
    assert.deepStrictEqual(kinds(positions), ["MISSING_PRICE"])
  })

  it("count what nobody asked for by what the venues pay, and what the strategy names by its price", () => {
    const market = { priceUsd: Decimal.one, depthUsd: 3n * Decimal.one }
    const listed = new Map([...catalogue, [baseWeth.assetId, { ...baseWeth, market }] as const])
    const account = read(onBase, [baseUsdc, 1_000_000n], [baseWeth, Decimal.one])
    const strange = assemble([account], { catalogue: listed })
    assert.deepStrictEqual(
      strange.assets.map(({ balanceRaw, priceUsd, valueUsd }) => [balanceRaw, priceUsd, valueUsd]),
      [
        [1_000_000n, Decimal.one, Decimal.one],
        [Decimal.one, null, null]
      ]
    )
    assert.strictEqual(strange.totalValueUsd, Decimal.one)
    assert.deepStrictEqual(strange.warnings, [
      {
        kind: "MISSING_PRICE",
        message: `${baseWeth.assetId} is not in the strategy, and the venues pay at most 1.00 USD for what is worth 2500.00 USD by its price; the total leaves it out`
      }
    ])
    const target = assemble([account], { catalogue: listed, targets: [baseWeth.assetId] })
    assert.strictEqual(target.totalValueUsd, 2501n * Decimal.one)
    assert.isEmpty(target.warnings)
  })

  it("say of an old price how old it is, and of each value from when its price is", () => {
    const hours = (n: number) => DateTime.add(time, { hours: n })
    const positions = assemble([read(onBase, [baseUsdc, 1_000_000n], [baseWeth, Decimal.one])], {
      prices: new Map([
        [baseUsdc.assetId, { ...price(1n), asOf: hours(240) }],
        [baseWeth.assetId, price(2500n)]
      ]),
      fetchedAt: hours(240)
    })
    assert.deepStrictEqual(
      positions.assets.map(({ priceAsOf, symbol, valueUsd }) => [symbol, valueUsd, priceAsOf]),
      [
        ["WETH", 2500n * Decimal.one, time],
        ["USDC", Decimal.one, hours(240)]
      ]
    )
    assert.deepStrictEqual(positions.warnings, [
      {
        kind: "MISSING_PRICE",
        message: `${baseWeth.assetId} has no price of now; its value is at the last one, of 1970-01-01T00:00:00.000Z (10 days ago)`
      }
    ])
  })

  it("warn of a blocked holding, a token that does not answer, and gaps between strategy and portfolio", () => {
    const blocked = new Map([...catalogue, [baseUsdc.assetId, { ...baseUsdc, isBlocked: true }] as const])
    assert.deepStrictEqual(kinds(assemble([read(onBase, [baseUsdc, 1n])], { catalogue: blocked })), [
      "BLOCKLISTED_ASSET"
    ])
    assert.deepStrictEqual(kinds(assemble([read(onBase, [baseUsdc, null])])), ["MISSING_ASSET"])
    const elsewhere = "eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" as typeof baseUsdc.assetId
    assert.deepStrictEqual(kinds(assemble([], { targets: [elsewhere] })), ["MISSING_ASSET", "MISSING_SMART_ACCOUNT"])
  })
})
