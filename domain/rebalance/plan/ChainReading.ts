/** What was read of an account and its chain, and what of it a plan is made from. Pure. */
import { Result } from "effect"
import * as Amount from "#domain/values/Amount.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { mayBuy, permittedBridgeAsset } from "#domain/account/Permission.ts"
import { type Asset, unbackedValue } from "#domain/asset/Asset.ts"
import type { AccountMoment } from "#domain/values/AccountMoment.ts"
import { type AccountId, type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { type AccountBalances, momentOf } from "#domain/chain/Balances.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { mayTradeOn, type Price } from "#domain/market/Prices.ts"
import { readingFrom } from "#domain/performance/PortfolioReading.ts"
import type { AccountReading } from "#domain/performance/valuePortfolio.ts"
import type { ChainHoldings, Holding } from "#domain/planning/Plan.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"

export interface ChainReading {
  readonly authorization: ChainAuthorization
  readonly catalogue: ReadonlyArray<Asset>
  /**
   * Null when the chain could not be read, or the asset by which value comes and goes: an unknown balance is not zero.
   */
  readonly balances: ReadonlyMap<AssetId, bigint> | null
  /** The account as it was read; null when it was not. */
  readonly account: AccountBalances | null
  /** Why it was not, where all that could be read of it is too old; null where that is not so. */
  readonly behind: string | null
}

/** Value of everything that has a price, US dollars (wad). */
export const valueOfHoldings = (chains: ReadonlyArray<ChainHoldings>): bigint =>
  chains
    .flatMap(({ holdings }) => holdings)
    .reduce(
      (sum, { balanceRaw, decimals, priceUsd }) => sum + Amount.valueUsd(balanceRaw, decimals, priceUsd ?? 0n),
      0n
    )

export const blocksOf = (readings: ReadonlyArray<ChainReading>): ReadonlyMap<AccountId, bigint> =>
  new Map(readings.flatMap(accountOf).map(({ accountId, blockNumber }) => [accountId, blockNumber] as const))

/** Why an account was not read, where all that there is of it is too old; null where that is not why. */
export const behindIn = (result: Result.Result<AccountBalances, ChainUnavailable>): string | null =>
  Result.isFailure(result) && result.failure.isBehind === true ? result.failure.message : null

/** Blocks at which each chain's account was read. */
export const momentsOf = ({ account, authorization }: ChainReading): ReadonlyArray<readonly [ChainId, AccountMoment]> =>
  account === null ? [] : [[authorization.chainId, momentOf(account)]]

export const accountOf = ({ account, authorization: { accountId } }: ChainReading): ReadonlyArray<AccountReading> =>
  account === null ? [] : [readingFrom(accountId, account)]

/** Who else may move assets; left out where no account was read of a chain that gives such a power. */
export const authoritiesOf = (
  readings: ReadonlyArray<ChainReading>
): { readonly authorities?: ReadonlyArray<ForeignAuthority> } => {
  const read = readings.flatMap(({ account }) => (account?.authorities === undefined ? [] : [account.authorities]))
  return read.length === 0 ? {} : { authorities: read.flat() }
}

/** What of the balances that were read may be traded; null when one is missing that moves value between chains. */
export const readable = (
  { balances }: AccountBalances,
  moving: ReadonlySet<AssetId>,
  reserved: PlanContext["reserved"]
): ReadonlyMap<AssetId, bigint> | null => {
  if (balances.some(({ assetId, raw }) => raw === null && moving.has(assetId))) return null
  const free = new Map(balances.flatMap(({ assetId, raw }) => (raw === null ? [] : [[assetId, raw] as const])))
  for (const { assetId, raw } of reserved) {
    const held = free.get(assetId)
    if (held !== undefined) free.set(assetId, held > raw ? held - raw : 0n)
  }
  return free
}

/** What is held on the chain, what the allocation puts there, and what comes and goes. */
export const assetsOfInterest = (
  { catalogue, balances }: ChainReading,
  ofInterest: ReadonlySet<AssetId>
): ReadonlyArray<Asset> =>
  catalogue.filter(({ assetId }) => ofInterest.has(assetId) || (balances?.get(assetId) ?? 0n) > 0n)

/** Raw units of each asset that are on their way to the portfolio's accounts. */
export const incomingOf = (transfers: ReadonlyArray<Transfer>): ReadonlyMap<AssetId, bigint> => {
  const incoming = new Map<AssetId, bigint>()
  for (const { buy, expectedRaw } of transfers) incoming.set(buy, (incoming.get(buy) ?? 0n) + expectedRaw)
  return incoming
}

interface Known {
  readonly ofInterest: ReadonlySet<AssetId>
  readonly known: ReadonlyMap<AssetId, Price>
  readonly staleBefore: number
  readonly incoming: ReadonlyMap<AssetId, bigint>
  readonly feeBps: number
}

export const chainState = (
  reading: ChainReading,
  { feeBps, incoming, known: prices, ofInterest, staleBefore }: Known
): ChainHoldings => {
  const unread = new Set(reading.account?.balances.flatMap(({ assetId, raw }) => (raw === null ? [assetId] : [])))
  const authorities = new Map(reading.account?.authorities?.map(({ assetId, holder }) => [assetId, holder]))
  const holding = (asset: Asset): Holding => {
    const { assetId, decimals, isBlocked } = asset
    const price = prices.get(assetId)
    const foreignAuthority = authorities.get(assetId)
    const balanceRaw = reading.balances?.get(assetId) ?? 0n
    const unbacked =
      price === undefined || ofInterest.has(assetId) ? undefined : unbackedValue(asset, balanceRaw, price.usd)
    return {
      assetId,
      decimals,
      balanceRaw,
      incomingRaw: incoming.get(assetId) ?? 0n,
      ...(unbacked === undefined ? {} : { unbacked }),
      priceUsd: unbacked === undefined ? (price?.usd ?? null) : null,
      priceIsStale: price !== undefined && !mayTradeOn(price, staleBefore),
      ...(unread.has(assetId) ? { isUnread: true } : {}),
      ...(foreignAuthority === undefined ? {} : { foreignAuthority }),
      isBlocked,
      isAuthorized: mayBuy(reading.authorization, assetId)
    }
  }
  return {
    chainId: chainIdOf(reading.authorization.accountId),
    available: reading.balances !== null,
    holdings: assetsOfInterest(reading, ofInterest).map(holding),
    feeBps
  }
}

/**
 * The asset by which each chain sends and receives, where its owner allowed it to leave and it need not be kept apart.
 */
export const bridgeAssetsOf = (chains: ReadonlyArray<ChainAuthorization>, apart: ReadonlySet<ChainId>) =>
  new Map(
    chains.flatMap((chain) => {
      const bridgeAsset = permittedBridgeAsset(chain)
      return bridgeAsset === undefined || apart.has(chain.chainId) ? [] : [[chain.chainId, bridgeAsset] as const]
    })
  )
