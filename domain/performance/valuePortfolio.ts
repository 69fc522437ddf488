/**
 * The value of a portfolio, and how much of the change since the last valuation is cash that came in or went out.
 *
 * What the last valuation and our own confirmed trades explain is carried over; whatever else moved is cash flow. So a
 * deposit and a withdrawal are seen to the last unit, and the cost of a trade is a loss, not a withdrawal. An asset
 * that never had a price enters when it gets one, like cash. One that was valued and has no price of now stops the
 * valuation for as long as it is held, since it neither left nor lost its worth; one that left meanwhile left at its
 * last price.
 *
 * What is on its way between two accounts counts at the one that it is owed to, so it is neither lost when it leaves
 * nor a gain when it arrives. When it left an account that was never valued, it is cash that came in like all else
 * there.
 */
import * as Amount from "#domain/values/Amount.ts"
import type { AccountId, HeldAssetId } from "#domain/values/Caip.ts"
import { type CarriedOver, carriedOver, type PricedAssets } from "#domain/performance/carriedOver.ts"
import { growthOf } from "#domain/performance/growthOf.ts"
import type { AccountSnapshot, HeldAsset, IncomingAsset, Valuation } from "#domain/performance/Valuation.ts"
import type { OutgoingValue } from "#domain/performance/ValuationStore.ts"

/** What an account holds now. A raw amount is null when the token contract did not answer. */
export interface AccountReading {
  readonly accountId: AccountId
  readonly blockNumber: bigint
  readonly balances: ReadonlyMap<HeldAssetId, bigint | null>
}

export interface ValuationTask extends PricedAssets {
  /** The last valuation, account by account; an account that was never valued is absent. */
  readonly before: ReadonlyMap<AccountId, AccountSnapshot>
  readonly now: ReadonlyArray<AccountReading>
  /** Net change of raw amounts by our own trades that were confirmed in the blocks between the two valuations. */
  readonly traded: ReadonlyMap<AccountId, ReadonlyMap<HeldAssetId, bigint>>
  /** Transfers between the accounts that are under way, or were at the last valuation. */
  readonly outgoing: ReadonlyArray<OutgoingValue>
  /** Assets whose last price is too old to be one of now. */
  readonly lapsed: ReadonlySet<HeldAssetId>
}

/** Whether a transfer had arrived by what was read of the accounts. */
const hasArrived = (
  { arrival, isOpen }: OutgoingValue,
  blockOf: (accountId: AccountId) => bigint | undefined
): boolean => (arrival === null ? !isOpen : arrival.blockNumber <= (blockOf(arrival.accountId) ?? -1n))

/** What the account is owed, and the worth of that part of it which another account held at its last valuation. */
interface Owed {
  readonly incoming: ReadonlyArray<IncomingAsset>
  readonly carriedOverUsd: bigint
}

/** Null when one of what the account is owed has no price, for nothing unknown is written as zero. */
const owedTo = (
  { accountId }: AccountReading,
  { before, catalogue, outgoing, now, prices }: ValuationTask
): Owed | null => {
  const blocks = new Map(now.map((reading) => [reading.accountId, reading.blockNumber]))
  const incoming: Array<IncomingAsset> = []
  let carriedOverUsd = 0n
  for (const transfer of outgoing) {
    if (transfer.receiverId !== accountId || hasArrived(transfer, (id) => blocks.get(id))) continue
    const { assetId, operationId, raw, sourceId } = transfer
    const [asset, priceUsd] = [catalogue.get(assetId), prices.get(assetId)]
    if (asset === undefined || priceUsd === undefined) return null
    const item = { operationId, assetId, raw, priceUsd, decimals: asset.decimals }
    incoming.push(item)
    if (before.has(sourceId)) carriedOverUsd += valueOf(item)
  }
  return { incoming, carriedOverUsd }
}

/**
 * Finds, of what counted as on its way at the last valuation, that which had arrived by then already: the ledger did
 * not have it yet, so it was in the balance too and passed for cash that came in.
 */
const countedTwice = (last: AccountSnapshot, { before, outgoing }: ValuationTask): ReadonlyArray<IncomingAsset> =>
  (last.incoming ?? []).filter(({ operationId }) =>
    outgoing.some(
      (transfer) =>
        transfer.operationId === operationId &&
        transfer.arrival !== null &&
        hasArrived(transfer, (id) => before.get(id)?.blockNumber)
    )
  )

interface AccountValue {
  readonly snapshot: AccountSnapshot
  readonly valueUsd: bigint
  /** Worth at the last valuation, once what was counted twice then is taken off; nothing without one. */
  readonly beforeUsd: bigint
  /** What that and our trades are worth now. */
  readonly carried: CarriedOver
  /** What passed for cash at the last valuation and was none. */
  readonly falseCashUsd: bigint
}

const valueOf = ({ decimals, priceUsd, raw }: HeldAsset): bigint => Amount.valueUsd(raw, decimals, priceUsd)

const sum = <A>(items: ReadonlyArray<A>, amount: (item: A) => bigint): bigint =>
  items.reduce((total, item) => total + amount(item), 0n)

/** The readable balances above zero that have a price. */
const holdingsOf = (reading: AccountReading, { catalogue, prices }: ValuationTask): ReadonlyArray<HeldAsset> =>
  [...reading.balances].flatMap(([assetId, raw]) => {
    const asset = catalogue.get(assetId)
    const priceUsd = prices.get(assetId)
    return raw === null || raw === 0n || asset === undefined || priceUsd === undefined
      ? []
      : [{ assetId, raw, priceUsd, decimals: asset.decimals }]
  })

/**
 * Whether something is held without a price of now that was valued the last time, or that was bought since or held at a
 * first valuation and had a price before. What else came in is left to the valuation that has a price of it.
 */
const lacksPrice = (
  { accountId, balances }: AccountReading,
  last: AccountSnapshot | undefined,
  { catalogue, lapsed, prices, traded }: ValuationTask
): boolean =>
  [...balances].some(([assetId, raw]) => {
    if (raw === null || raw === 0n || prices.has(assetId) || !catalogue.has(assetId)) return false
    if (last?.holdings.some((held) => held.assetId === assetId) === true) return true
    return lapsed.has(assetId) && (last === undefined || traded.get(accountId)?.has(assetId) === true)
  })

const valueAccount = (reading: AccountReading, task: ValuationTask): AccountValue | null => {
  const last = task.before.get(reading.accountId)
  if (lacksPrice(reading, last, task)) return null
  // An unknown balance of something that was held is not zero.
  if (last?.holdings.some(({ assetId }) => reading.balances.get(assetId) === null) === true) return null
  const owed = owedTo(reading, task)
  if (owed === null) return null
  const { accountId, blockNumber } = reading
  const { incoming } = owed
  const holdings = holdingsOf(reading, task)
  const twiceUsd = last === undefined ? 0n : sum(countedTwice(last, task), valueOf)
  const known = { holdings: last?.holdings ?? [], traded: task.traded.get(accountId) ?? new Map<HeldAssetId, bigint>() }
  const carried = carriedOver(known, task)
  return {
    snapshot: { accountId, blockNumber, holdings, ...(incoming.length === 0 ? {} : { incoming }) },
    valueUsd: sum(holdings, valueOf) + sum(incoming, valueOf),
    beforeUsd: last === undefined ? 0n : sum([...last.holdings, ...(last.incoming ?? [])], valueOf) - twiceUsd,
    carried: { ...carried, valueUsd: carried.valueUsd + owed.carriedOverUsd },
    falseCashUsd: twiceUsd
  }
}

/**
 * Null when the balance of an asset that was held could not be read, or there is no price of now of one that is held or
 * on its way. Growth is cut at its eighteenth decimal.
 */
export const valuePortfolio = (task: ValuationTask): Valuation | null => {
  const accounts: Array<AccountValue> = []
  // What is owed to an account that was not read would be missing from the value.
  const isRead = (accountId: AccountId) => task.now.some((reading) => reading.accountId === accountId)
  if (task.outgoing.some(({ receiverId }) => !isRead(receiverId))) return null
  for (const reading of task.now) {
    const account = valueAccount(reading, task)
    if (account === null) return null
    accounts.push(account)
  }
  const valueUsd = sum(accounts, (account) => account.valueUsd)
  const carriedOverUsd = sum(accounts, ({ carried }) => carried.valueUsd)
  return {
    valueUsd,
    cashFlowUsd: valueUsd - carriedOverUsd - sum(accounts, (account) => account.falseCashUsd),
    ...growthOf({
      beforeUsd: sum(accounts, (account) => account.beforeUsd),
      carriedOverUsd,
      oversoldUsd: sum(accounts, ({ carried }) => carried.oversoldUsd),
      isUnpriced: accounts.some(({ carried }) => carried.isUnpriced),
      valueUsd
    }),
    accounts: accounts.map(({ snapshot }) => snapshot)
  }
}
