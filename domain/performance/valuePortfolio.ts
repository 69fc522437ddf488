/**
 * The value of a portfolio, and how much of the change since the last look is cash that came in or went out.
 *
 * What the last look and our own settled trades explain is carried over; whatever else moved is cash flow. So a deposit
 * and a withdrawal are seen to the last unit, and the cost of a trade is a loss, not a withdrawal. An asset enters when
 * it gets a price and leaves at its last price when it has none any more: neither is a gain or a loss.
 *
 * What is on its way between two accounts counts at the one that it is owed to, so it is neither lost when it leaves nor
 * a gain when it arrives.
 */
import * as Amount from "#domain/Amount.ts"
import type { Asset } from "#domain/asset/Asset.ts"
import type { AssetId, EvmAccountId } from "#domain/Caip.ts"
import * as Decimal from "#domain/Decimal.ts"
import type { AccountSnapshot, HeldAsset, IncomingAsset, Valuation } from "#domain/performance/Valuation.ts"
import type { Departed } from "#domain/performance/ValuationStore.ts"

/** What an account holds now. A raw amount is null when the token contract did not answer. */
export interface AccountReading {
  readonly accountId: EvmAccountId
  readonly blockNumber: bigint
  readonly balances: ReadonlyMap<AssetId, bigint | null>
}

export interface ValuationTask {
  /** The last look, account by account; an account that was never looked at is absent. */
  readonly before: ReadonlyMap<EvmAccountId, AccountSnapshot>
  readonly now: ReadonlyArray<AccountReading>
  /** Net change of raw amounts by our own trades that settled in the blocks between the two looks. */
  readonly traded: ReadonlyMap<EvmAccountId, ReadonlyMap<AssetId, bigint>>
  /** Transfers between the accounts that are under way, or were at the last look. */
  readonly departed: ReadonlyArray<Departed>
  readonly catalogue: ReadonlyMap<AssetId, Asset>
  /** US dollars (wad) for one whole token. */
  readonly prices: ReadonlyMap<AssetId, bigint>
}

/** Whether a transfer had arrived by what was read of the accounts. */
const hasArrived = ({ arrival, isOpen }: Departed, blockOf: (accountId: EvmAccountId) => bigint | undefined): boolean =>
  arrival === null ? !isOpen : arrival.blockNumber <= (blockOf(arrival.accountId) ?? -1n)

/** What the account is owed; null when one of it has no price, for nothing unknown is written as zero. */
const incomingOf = (
  { accountId }: AccountReading,
  { catalogue, departed, now, prices }: ValuationTask
): ReadonlyArray<IncomingAsset> | null => {
  const blocks = new Map(now.map((reading) => [reading.accountId, reading.blockNumber]))
  const incoming: Array<IncomingAsset> = []
  for (const transfer of departed) {
    if (transfer.receiverId !== accountId || hasArrived(transfer, (id) => blocks.get(id))) continue
    const { assetId, operationId, raw } = transfer
    const [asset, priceUsd] = [catalogue.get(assetId), prices.get(assetId)]
    if (asset === undefined || priceUsd === undefined) return null
    incoming.push({ operationId, assetId, raw, priceUsd, decimals: asset.decimals })
  }
  return incoming
}

/**
 * Of what counted as on its way at the last look, that which had arrived by then already: the ledger did not know yet, so
 * it was in the balance too and passed for cash that came in.
 */
const countedTwice = (last: AccountSnapshot, { before, departed }: ValuationTask): ReadonlyArray<IncomingAsset> =>
  (last.incoming ?? []).filter(({ operationId }) =>
    departed.some(
      (transfer) =>
        transfer.operationId === operationId &&
        transfer.arrival !== null &&
        hasArrived(transfer, (id) => before.get(id)?.blockNumber)
    )
  )

interface AccountValue {
  readonly snapshot: AccountSnapshot
  readonly valueUsd: bigint
  /** Of what the last look held, with our trades since: its worth then and now. */
  readonly beforeUsd: bigint
  readonly carriedUsd: bigint
  /** What passed for cash at the last look and was none. */
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

/** What the last look held and our trades made of it, at the price of now; without one, at its last. */
const carriedOver = (
  last: AccountSnapshot,
  traded: ReadonlyMap<AssetId, bigint>,
  { catalogue, prices }: ValuationTask
): bigint => {
  const lastHeld = new Map(last.holdings.map((held) => [held.assetId, held]))
  return sum([...new Set([...lastHeld.keys(), ...traded.keys()])], (assetId) => {
    const held = lastHeld.get(assetId)
    const decimals = catalogue.get(assetId)?.decimals ?? held?.decimals
    const priceUsd = prices.get(assetId) ?? held?.priceUsd
    if (decimals === undefined || priceUsd === undefined) return 0n
    return Amount.valueUsd((held?.raw ?? 0n) + (traded.get(assetId) ?? 0n), decimals, priceUsd)
  })
}

const valueAccount = (reading: AccountReading, task: ValuationTask): AccountValue | null => {
  const last = task.before.get(reading.accountId)
  // An unknown balance of something that was held is not zero.
  if (last?.holdings.some(({ assetId }) => reading.balances.get(assetId) === null) === true) return null
  const incoming = incomingOf(reading, task)
  if (incoming === null) return null
  const { accountId, blockNumber } = reading
  const holdings = holdingsOf(reading, task)
  const incomingUsd = sum(incoming, valueOf)
  const twiceUsd = last === undefined ? 0n : sum(countedTwice(last, task), valueOf)
  return {
    snapshot: { accountId, blockNumber, holdings, ...(incoming.length === 0 ? {} : { incoming }) },
    valueUsd: sum(holdings, valueOf) + incomingUsd,
    beforeUsd: last === undefined ? 0n : sum([...last.holdings, ...(last.incoming ?? [])], valueOf) - twiceUsd,
    carriedUsd:
      incomingUsd + (last === undefined ? 0n : carriedOver(last, task.traded.get(accountId) ?? new Map(), task)),
    falseCashUsd: twiceUsd
  }
}

/**
 * Null when the balance of an asset that was held could not be read, or the price of one that is on its way. Growth is cut at
 * its eighteenth place.
 */
export const valuePortfolio = (task: ValuationTask): Valuation | null => {
  const accounts: Array<AccountValue> = []
  // What is owed to an account that was not read would be missing from the value.
  const isRead = (accountId: EvmAccountId) => task.now.some((reading) => reading.accountId === accountId)
  if (task.departed.some(({ receiverId }) => !isRead(receiverId))) return null
  for (const reading of task.now) {
    const account = valueAccount(reading, task)
    if (account === null) return null
    accounts.push(account)
  }
  const valueUsd = sum(accounts, (account) => account.valueUsd)
  const beforeUsd = sum(accounts, (account) => account.beforeUsd)
  const carriedUsd = sum(accounts, (account) => account.carriedUsd)
  const keptUsd = carriedUsd < 0n ? 0n : carriedUsd
  return {
    valueUsd,
    cashFlowUsd: valueUsd - carriedUsd - sum(accounts, (account) => account.falseCashUsd),
    growth: beforeUsd > 0n ? (keptUsd * Decimal.one) / beforeUsd : null,
    accounts: accounts.map(({ snapshot }) => snapshot)
  }
}
