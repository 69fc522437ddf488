/** Puts balances, catalogue and prices together; pure, so that every partial failure can be tested as a table. */
import { DateTime } from "effect"
import * as Amount from "#domain/values/Amount.ts"
import { type Asset, unbackedValue } from "#domain/asset/Asset.ts"
import type { AssetId, AccountId } from "#domain/values/Caip.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import { type NativeCoin, nativeDecimals } from "#domain/chain/nativeCoins.ts"
import { isFresh, type Price } from "#domain/market/Prices.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import type { Position, Positions, TransitItem, Warning } from "#domain/portfolio/Positions.ts"
import type { UnlistedHolding } from "#domain/portfolio/UnlistedHoldings.ts"
import { dollars } from "#domain/values/Skip.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"

/** What one smart account answered: its balances, or why there are none. */
export interface AccountAnswer {
  readonly account: AccountId
  readonly result:
    | {
        readonly _tag: "Read"
        readonly balances: ReadonlyArray<{ readonly assetId: AssetId; readonly raw: bigint | null }>
        /** Balance of the chain's native coin; left out where nothing of it is held. */
        readonly native?: { readonly coin: NativeCoin; readonly raw: bigint }
        /** Tokens that are not in the catalogue. */
        readonly unlisted: ReadonlyArray<UnlistedHolding>
        /** Who else may move assets of the account; left out where nobody may. */
        readonly authorities?: ReadonlyArray<ForeignAuthority>
        /** Why the balances are of a block that is too old to act on; left out where they are not. */
        readonly oldBecause?: string
      }
    | { readonly _tag: "Failed"; readonly reason: string }
}

export interface Readings {
  readonly accounts: ReadonlyArray<AccountAnswer>
  readonly catalogue: ReadonlyMap<AssetId, Asset>
  readonly prices: ReadonlyMap<AssetId, Price>
  /** Target assets of the strategy's head version. */
  readonly targets: ReadonlyArray<AssetId>
  /** What is between two chains, as far as it could be read. */
  readonly transfers: ReadonlyArray<OutgoingTransfer>
  readonly transfersAreWhole: boolean
  readonly fetchedAt: DateTime.Utc
  /** A price older than this many milliseconds is said to be old. */
  readonly priceMaxAgeMs: number
}

/** The warning of an asset without a price of now; its last one values the row, and says from when it is. */
const priceProblems = (
  what: string,
  price: Price | undefined,
  { fetchedAt, priceMaxAgeMs }: Readings
): ReadonlyArray<Warning> => {
  if (price === undefined) return [{ kind: "MISSING_PRICE", message: `${what} has no price; the total leaves it out` }]
  if (isFresh(price, fetchedAt.epochMilliseconds - priceMaxAgeMs)) return []
  const last = `${what} has no price of now; its value is at the last one`
  return [
    { kind: "MISSING_PRICE", message: `${last}, of ${DateTime.formatIso(price.asOf)} (${ageOf(price, fetchedAt)} ago)` }
  ]
}

/** Why the price of what nobody asked for does not count; undefined where it does. */
const unbackedWarning = (asset: Asset, raw: bigint, price: Price | undefined): Warning | undefined => {
  const unbacked = price === undefined ? undefined : unbackedValue(asset, raw, price.usd)
  if (unbacked === undefined) return undefined
  const { paidUsd, valueUsd } = unbacked
  const message = `${asset.assetId} is not in the strategy, and the venues pay at most ${dollars(paidUsd)} for what is worth ${dollars(valueUsd)} by its price; the total leaves it out`
  return { kind: "MISSING_PRICE", message }
}

const refusalOf = ({ refusal }: Asset): string => (refusal === undefined ? "" : `: ${refusal}`)

const ageOf = ({ asOf }: Price, now: DateTime.Utc): string => {
  const minutes = Math.floor((now.epochMilliseconds - asOf.epochMilliseconds) / 60_000)
  if (minutes < 120) return `${minutes} minutes`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} hours` : `${Math.floor(minutes / (24 * 60))} days`
}

const transitItems = (
  transfers: ReadonlyArray<OutgoingTransfer>,
  { catalogue, prices }: Readings
): ReadonlyArray<TransitItem> =>
  transfers.map(({ amountRaw, buy, sell }) => {
    const [asset, price] = [catalogue.get(sell), prices.get(sell)]
    return {
      sourceAssetId: sell,
      destinationChainId: chainIdOf(buy),
      amountRaw,
      priceAsOf: price?.asOf ?? null,
      valueUsd:
        asset === undefined || price === undefined ? null : Amount.valueUsd(amountRaw, asset.decimals, price.usd)
    }
  })

const byValueDescending = (a: Position, b: Position): number => {
  const left = a.valueUsd ?? -1n
  const right = b.valueUsd ?? -1n
  return left === right ? (a.assetId < b.assetId ? -1 : 1) : left > right ? -1 : 1
}

const unlistedMessage = (account: AccountId, count: number) =>
  `${count} of the tokens that ${account} holds are not in the asset catalogue; they have no value here and are not traded`

const unlistedPosition = (account: AccountId, { assetId, decimals, raw, symbol }: UnlistedHolding): Position => ({
  assetId,
  smartAccountId: account,
  symbol,
  decimals,
  balanceRaw: raw,
  priceUsd: null,
  priceAsOf: null,
  valueUsd: null
})

/** Values the native coin at the price of the token that wraps it. */
const nativePosition = (
  account: AccountId,
  { coin, raw }: { readonly coin: NativeCoin; readonly raw: bigint },
  price: Price | undefined
): Position => ({
  assetId: coin.assetId,
  smartAccountId: account,
  symbol: coin.symbol,
  decimals: nativeDecimals,
  balanceRaw: raw,
  priceUsd: price?.usd ?? null,
  priceAsOf: price?.asOf ?? null,
  valueUsd: price === undefined ? null : Amount.valueUsd(raw, nativeDecimals, price.usd)
})

/** Rows of all balances above zero, most valuable first; the total counts the rows that have a price that counts. */
export const assemblePositions = (portfolio: Portfolio, readings: Readings): Positions => {
  const warnings: Array<Warning> = []
  const assets: Array<Position> = []
  const chains = new Set(portfolio.smartAccounts.map(chainIdOf))
  const targets = new Set(readings.targets)

  for (const assetId of readings.targets) {
    if (!readings.catalogue.has(assetId)) {
      warnings.push({ kind: "MISSING_ASSET", message: `${assetId} is in the strategy but not in the asset catalogue` })
    }
    if (!chains.has(chainIdOf(assetId))) {
      warnings.push({
        kind: "MISSING_SMART_ACCOUNT",
        message: `${assetId} is in the strategy but the portfolio has no smart account on its chain`
      })
    }
  }

  for (const { account, result } of readings.accounts) {
    if (result._tag === "Failed") {
      warnings.push({ kind: "RPC_ERROR", message: `${account} could not be read: ${result.reason}` })
      continue
    }
    const { native, oldBecause, unlisted } = result
    if (oldBecause !== undefined)
      warnings.push({ kind: "STALE_BALANCES", message: `${account} could only be read as it was: ${oldBecause}` })
    for (const { assetId, holder } of result.authorities ?? [])
      warnings.push({
        kind: "FOREIGN_AUTHORITY",
        message: `${holder} may move ${assetId} or close its account; it is not traded, withdraw it and deposit nothing`
      })
    if (unlisted.length > 0) {
      warnings.push({ kind: "MISSING_ASSET", message: unlistedMessage(account, unlisted.length) })
      assets.push(...unlisted.map((holding) => unlistedPosition(account, holding)))
    }
    if (native !== undefined) {
      const price = readings.prices.get(native.coin.wrapped)
      warnings.push(...priceProblems(native.coin.assetId, price, readings))
      assets.push(nativePosition(account, native, price))
    }
    for (const { assetId, raw } of result.balances) {
      const asset = readings.catalogue.get(assetId)
      if (asset === undefined) continue
      if (raw === null) {
        warnings.push({ kind: "MISSING_ASSET", message: `${assetId} did not answer its balance` })
        continue
      }
      if (raw === 0n) continue
      const listed = readings.prices.get(assetId)
      const unbacked = targets.has(assetId) ? undefined : unbackedWarning(asset, raw, listed)
      const price = unbacked === undefined ? listed : undefined
      if (asset.isBlocked)
        warnings.push({
          kind: "BLOCKLISTED_ASSET",
          message: `${assetId} is held but blocked; it is not traded${refusalOf(asset)}`
        })
      warnings.push(...(unbacked === undefined ? priceProblems(assetId, price, readings) : [unbacked]))
      assets.push({
        assetId,
        smartAccountId: account,
        symbol: asset.symbol,
        decimals: asset.decimals,
        balanceRaw: raw,
        priceUsd: price?.usd ?? null,
        priceAsOf: price?.asOf ?? null,
        valueUsd: price === undefined ? null : Amount.valueUsd(raw, asset.decimals, price.usd)
      })
    }
  }

  if (!readings.transfersAreWhole) {
    warnings.push({
      kind: "IN_TRANSIT_READ_FAILED",
      message: "What is on its route between chains could not be read whole; the total may leave some of it out"
    })
  }
  const items = transitItems(readings.transfers, readings)
  for (const { sourceAssetId } of items) {
    const price = readings.catalogue.has(sourceAssetId) ? readings.prices.get(sourceAssetId) : undefined
    warnings.push(...priceProblems(`${sourceAssetId} is on its way to another chain and`, price, readings))
  }
  const inTransit = { totalUsd: items.reduce((sum, { valueUsd }) => sum + (valueUsd ?? 0n), 0n), items }

  return {
    portfolioId: portfolio.portfolioId,
    totalValueUsd: assets.reduce((sum, { valueUsd }) => sum + (valueUsd ?? 0n), inTransit.totalUsd),
    inTransit,
    fetchedAt: readings.fetchedAt,
    smartAccounts: portfolio.smartAccounts,
    assets: assets.sort(byValueDescending),
    warnings
  }
}
