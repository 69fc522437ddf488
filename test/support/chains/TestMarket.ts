/** An exact little market in memory, of which the chain ports of tests are made; its knobs and counters. */
import { Context, Effect, Layer, Schema } from "effect"
import { Hex } from "effect/encoding"
import * as Amount from "#domain/values/Amount.ts"
import { type AssetId, type ChainId, chainIdOf, AccountId } from "#domain/values/Caip.ts"
import type { MarketFault } from "#domain/trading/SwapBatches.ts"
import type { RouteStatus } from "#domain/trading/Routing.ts"
import type { Arrival } from "#domain/transfer/TransferReceipts.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { Swap } from "#domain/trading/Swap.ts"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"
import { tokensOf, WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { catalogue } from "#test/support/assets.ts"

/** Basis points that a swap costs. */
export const feeBps = 30

/** What a transaction of these tests includes. */
export const Payload = Schema.fromJsonString(
  Schema.Struct({
    accountId: AccountId,
    swaps: Schema.Array(Swap),
    transfers: Schema.Array(OutgoingTransfer),
    /** Nonce of the account, for what the agent signs; what an owner signed has none. */
    nonce: Schema.optionalKey(Schema.Int),
    withdrawal: Schema.NullOr(Schema.Struct({ message: WithdrawalMessage, keepRaw: Schema.BigIntFromString }))
  })
)
export type Payload = typeof Payload.Type

export interface TestMarket {
  readonly fund: (account: AccountId, assetId: AssetId, raw: bigint) => void
  readonly balance: (account: AccountId, assetId: AssetId) => bigint
  /** The newest block of every chain. */
  readonly block: () => bigint
  /** Makes a block and answers its number. */
  readonly mine: () => bigint
  /** US dollars (wad) a whole token. */
  readonly prices: Map<AssetId, bigint>
  readonly down: Set<number>
  /** Chains of which all nodes are behind what the service knows: balances are old. */
  readonly behind: Set<number>
  /** How many of the next requests a chain does not answer. */
  readonly drops: Map<number, number>
  /** Whether the price source answers. */
  arePricesKnown: boolean
  /** How many of the next operations a chain includes and reverts. */
  readonly reverts: Map<number, number>
  /** Gas that several operations may share, each of which has a limit of one. */
  bundleGas: bigint
  /**
   * Accounts whose operations a chain refuses among others, and how many of the next shared transactions it reverts
   * whole.
   */
  readonly refused: Set<AccountId>
  spoils: number
  /** The next nonce of accounts whose agent has acted, and how many operations came with one that was used. */
  readonly nonces: Map<AccountId, number>
  overtaken: number
  /** Shared transactions that came to nothing. */
  readonly revertedBundles: Set<string>
  /** Every distinct operation that was included on any chain, by what it includes. */
  readonly included: Map<string, ActionReceipt>
  /** Operations of the service by the user operations that were made for them, included or not. */
  readonly tagged: Map<string, string>
  /** How many of the next questions for a tag find it in a block that does not count yet. */
  unsettledTags: number
  /** Withdrawals that were carried out, by account and nonce. */
  readonly withdrawn: Map<string, ActionReceipt>
  /** A chain's own time in seconds since 1970; before every expiry unless a test says otherwise. */
  readonly seconds: Map<number, number>
  /** Basis points that a token keeps of each transfer. */
  readonly transferFeeBps: Map<AssetId, bigint>
  /** Hashes of everything that was sent, in order. */
  readonly broadcasts: Array<string>
  /** How often a transaction must be replaced before a chain includes it, and how often its fee may be raised. */
  minReplacements: number
  maxReplacements: number
  /**
   * Transactions with a nonce below it are taken for more than they offer at first, which is more than those may cost
   * that have a limit; and those that were taken back.
   */
  dearNonces: number
  readonly takenBack: Map<string, bigint>
  /** Permissions that a chain accepts no longer, by account and id. */
  readonly revoked: Set<string>
  /** Whether the relayer's key gives signatures. */
  signs: boolean
  /** How many of the relayer's nonces every chain counts as used. */
  usedNonces: number
  /** Whether a chain includes the relayer's transactions in the order of their nonces; `usedNonces` follows then. */
  isInOrder: boolean
  /** What the routing provider says of a transfer, by the transaction that included it; pending without an entry. */
  readonly routes: Map<string, RouteStatus>
  /** Why the provider gives no quote; undefined when it does. */
  refusal: string | undefined
  /** Whether the provider answers when it is asked for a quote. */
  isRouting: boolean
  /** What the issuer does, by how much its prices are better than the market's, and how many words it has signed. */
  readonly issuer: { isDown: boolean; refusal: string | undefined; advantageBps: bigint; words: number }
  /** Basis points by which the provider's routes pay more than the venue; undefined when it has none. */
  routeAdvantageBps: bigint | undefined
  /** Whether a chain refuses a batch from which something leaves, although the provider has a route for it. */
  bridgeIsPaused: boolean
  /** Whether a chain refuses a batch with routed swaps. */
  refusesRoutes: boolean
  /** Assets that the chain wants an attested price of, which nobody gives. */
  readonly unattested: Set<AssetId>
  /** Why no chain takes its own prices; undefined while it does. */
  marketFault: MarketFault | undefined
  /** What an account received in a transaction, by account and hash. */
  readonly arrivals: Map<string, Arrival>
  /** A number that was not drawn before. */
  readonly draw: () => number
  /** Awaited at the named step of whatever passes it, so that a test can stop the world there. */
  at: (step: string) => Effect.Effect<void>
}

/** Makes the named map in which a market keeps what happened. */
export type KeepMap = <K extends string | number, V>(name: string) => Map<K, V>

const firstBlock = 10n

export const makeMarket = (keep: KeepMap): TestMarket => {
  const balances = keep<string, bigint>("balances")
  const drawn = keep<string, number>("drawn")
  const blocks = keep<string, bigint>("blocks")
  const block = () => blocks.get("newest") ?? firstBlock
  const key = (account: string, assetId: string) => `${account} ${assetId}`
  return {
    fund: (account, assetId, raw) => {
      balances.set(key(account, assetId), (balances.get(key(account, assetId)) ?? 0n) + raw)
    },
    balance: (account, assetId) => balances.get(key(account, assetId)) ?? 0n,
    block,
    mine: () => {
      blocks.set("newest", block() + 1n)
      return block()
    },
    prices: new Map<AssetId, bigint>(),
    down: new Set<number>(),
    behind: new Set<number>(),
    drops: new Map<number, number>(),
    arePricesKnown: true,
    reverts: keep("reverts"),
    bundleGas: 8n,
    refused: new Set<AccountId>(),
    nonces: keep("nonces"),
    overtaken: 0,
    spoils: 0,
    revertedBundles: new Set<string>(),
    included: keep("included"),
    tagged: keep("tagged"),
    unsettledTags: 0,
    withdrawn: keep("withdrawn"),
    seconds: keep("seconds"),
    transferFeeBps: new Map<AssetId, bigint>(),
    broadcasts: [],
    minReplacements: 0,
    maxReplacements: 10,
    dearNonces: 0,
    takenBack: keep("takenBack"),
    revoked: new Set<string>(),
    signs: true,
    usedNonces: 0,
    isInOrder: false,
    routes: keep("routes"),
    refusal: undefined,
    isRouting: true,
    issuer: { isDown: false, refusal: undefined, advantageBps: 0n, words: 0 },
    routeAdvantageBps: undefined,
    bridgeIsPaused: false,
    refusesRoutes: false,
    unattested: new Set(),
    marketFault: undefined,
    arrivals: keep("arrivals"),
    draw: () => {
      const next = (drawn.get("last") ?? 0) + 1
      drawn.set("last", next)
      return next
    },
    at: () => Effect.void
  }
}

export class TestChain extends Context.Service<TestChain, TestMarket>()("ballast/test/support/TestChain") {
  static readonly layer = Layer.sync(TestChain, () => makeMarket(() => new Map()))
}

export const requireUp = (market: TestMarket, chainId: ChainId) =>
  Effect.suspend(() => {
    const drops = market.drops.get(chainId) ?? 0
    market.drops.set(chainId, Math.max(0, drops - 1))
    return market.down.has(chainId) || drops > 0
      ? Effect.fail(new ChainUnavailable({ chainId, reason: "taken down by the test" }))
      : Effect.void
  })

/** What a swap yields: the feed's prices less one hop's fee. */
export const output = (
  market: TestMarket,
  { buy, sell }: { readonly sell: AssetId; readonly buy: AssetId },
  sellAmountRaw: bigint
): bigint | null => {
  const [from, to] = [catalogue.get(sell), catalogue.get(buy)]
  const [fromPrice, toPrice] = [market.prices.get(sell), market.prices.get(buy)]
  if (from === undefined || to === undefined || fromPrice === undefined || toPrice === undefined) return null
  const value = (Amount.valueUsd(sellAmountRaw, from.decimals, fromPrice) * BigInt(10_000 - feeBps)) / 10_000n
  return Amount.fromUsd(value, to.decimals, toPrice)
}

export const withdrawalKey = (accountId: AccountId, { nonce }: WithdrawalMessage) => `${accountId} ${nonce}`

export const isExpired = (market: TestMarket, { expiresAt, recipientAccountId }: WithdrawalMessage) =>
  (market.seconds.get(chainIdOf(recipientAccountId)) ?? 0) > expiresAt

type Deltas = ReadonlyArray<{ readonly assetId: AssetId; readonly raw: bigint }>

const transfers = (market: TestMarket, { accountId, withdrawal }: Payload): Deltas => {
  if (withdrawal === null) return []
  const { keepRaw, message } = withdrawal
  const settlement = usdcOn(chainIdOf(accountId))!
  return message.liquidate === true
    ? [{ assetId: settlement, raw: market.balance(accountId, settlement) - keepRaw }]
    : tokensOf(message).map(({ amountRaw, assetId }) => ({ assetId, raw: BigInt(amountRaw) }))
}

const deliver = (market: TestMarket, payload: Payload) => {
  const { accountId, withdrawal } = payload
  return transfers(market, payload).map(({ assetId, raw }) => {
    const fee = (raw * (market.transferFeeBps.get(assetId) ?? 0n)) / 10_000n
    market.fund(accountId, assetId, -raw)
    market.fund(withdrawal!.message.recipientAccountId, assetId, raw - fee)
    return { assetId, raw: -raw }
  })
}

const textOf = (raw: string): string =>
  new TextDecoder().decode(
    Uint8Array.from(
      raw
        .slice(2)
        .match(/../g)!
        .map((byte) => Number.parseInt(byte, 16))
    )
  )

/** What calldata includes. */
export const read = (raw: string): Payload => Schema.decodeUnknownSync(Payload)(textOf(raw))

/** The calldata of a payload. */
export const write = (payload: Payload): string => `0x${Hex.encode(Schema.encodeSync(Payload)(payload))}`

type Operation = Pick<PreparedTransaction, "actionHash" | "callData">

/** The calldata that includes several operations. */
export const writeBundle = (operations: ReadonlyArray<Operation>): string =>
  `0x${Hex.encode(JSON.stringify(operations.map(({ actionHash, callData }) => ({ actionHash, callData }))))}`

export const revertedBundleReceipt = (
  market: TestMarket,
  { actionHash, replaces, txHash }: SignedTransaction
): ActionReceipt | undefined => {
  const including = [txHash, ...replaces].find((hash) => market.revertedBundles.has(hash))
  return including === undefined
    ? undefined
    : {
        actionHash,
        txHash: including,
        blockNumber: 2n,
        blockHash: hash("block", 2),
        success: false,
        isBundleReverted: true,
        gasUsed: 1n,
        deltas: []
      }
}

/** Makes the receipt of a transaction whose nonce another one took that includes nothing. */
export const takenBackReceipt = (
  market: TestMarket,
  { actionHash, replaces, txHash }: SignedTransaction
): ActionReceipt | undefined => {
  const canceller = [txHash, ...replaces].find((one) => market.takenBack.has(one))
  if (canceller === undefined) return undefined
  const blockNumber = market.takenBack.get(canceller)!
  return {
    actionHash,
    txHash: canceller,
    blockNumber,
    blockHash: hash("block", Number(blockNumber)),
    success: false,
    isNotBegun: true,
    isTakenBack: true,
    gasUsed: 1n,
    deltas: []
  }
}

/** Includes a transaction, once, with all that it includes. */
export const include = (
  market: TestMarket,
  chainId: number,
  { actionHash, raw, txHash }: { readonly actionHash: string; readonly txHash: string; readonly raw: string }
) => {
  const content: unknown = JSON.parse(textOf(raw))
  if (!Array.isArray(content)) return includeOne(market, chainId, { actionHash, txHash, raw })
  const operations = content as ReadonlyArray<Operation>
  if (market.revertedBundles.has(txHash)) return
  if (market.spoils > 0 && !operations.some((operation) => market.included.has(operation.actionHash))) {
    market.spoils -= 1
    market.revertedBundles.add(txHash)
    return
  }
  for (const operation of operations)
    includeOne(market, chainId, { actionHash: operation.actionHash, txHash, raw: operation.callData })
}

/** An operation's effects on the balances, all or none. */
const includeOne = (
  market: TestMarket,
  chainId: number,
  { actionHash, raw, txHash }: { readonly actionHash: string; readonly txHash: string; readonly raw: string }
) => {
  if (market.included.has(actionHash)) return
  const payload = read(raw)
  const { accountId, nonce, swaps, withdrawal } = payload
  const key = withdrawal === null ? undefined : withdrawalKey(accountId, withdrawal.message)
  const next = market.nonces.get(accountId) ?? 0
  const isOvertaken = nonce !== undefined && nonce !== next
  if (isOvertaken) market.overtaken += 1
  else if (nonce !== undefined) market.nonces.set(accountId, next + 1)
  const pendingReverts = market.reverts.get(chainId) ?? 0
  if (pendingReverts > 0) market.reverts.set(chainId, pendingReverts - 1)
  const success =
    pendingReverts === 0 &&
    !isOvertaken &&
    !(key !== undefined && market.withdrawn.has(key)) &&
    !(withdrawal !== null && isExpired(market, withdrawal.message))
  const deltas: Array<Deltas[number]> = []
  if (success) {
    for (const { buy, sell, sellAmountRaw } of swaps) {
      deltas.push(
        { assetId: sell, raw: -sellAmountRaw },
        { assetId: buy, raw: output(market, { sell, buy }, sellAmountRaw) ?? 0n }
      )
    }
    for (const { amountRaw, sell } of payload.transfers) deltas.push({ assetId: sell, raw: -amountRaw })
    for (const delta of deltas) market.fund(accountId, delta.assetId, delta.raw)
    deltas.push(...deliver(market, payload))
  }
  const blockNumber = market.mine()
  const receipt = {
    actionHash,
    txHash,
    blockNumber,
    blockHash: hash("block", Number(blockNumber)),
    success,
    ...(isOvertaken ? { isNotBegun: true } : {}),
    gasUsed: 1n,
    deltas
  }
  market.included.set(actionHash, receipt)
  if (success && key !== undefined) market.withdrawn.set(key, receipt)
}

export const hash = (label: string, n: number) =>
  `0x${Hex.encode(label).padEnd(32, "0")}${n.toString(16).padStart(32, "0")}`
