/** What a simulated chain does with a transaction: the rules of EntryPoint, router, bridge and withdrawal executor. */
import { type AssetId, chainIdOf } from "#domain/Caip.ts"
import type { Swap } from "#domain/rebalance/ChainExecution.ts"
import type { OutgoingTransfer } from "#domain/transfer/OutgoingTransfer.ts"
import type { WithdrawalMessage } from "#domain/withdrawal/WithdrawalMessage.ts"
import { type Accounts, type Delta, Reverted, withdrawalKey } from "#test/simulation/world/Accounts.ts"
import type { OwnersWithdrawal, Payload, UserOperation } from "#test/simulation/world/Payload.ts"

/** Counterparties of accounts, so that no unit comes from nowhere. */
export const pools = "pools"
export const bridgeVault = "bridge"

export interface ExecutionTerms {
  readonly accounts: Accounts
  readonly txHash: string
  /** Time of the block. */
  readonly at: number
  readonly output: (sell: AssetId, buy: AssetId, raw: bigint, at: number) => bigint | null
}

export interface Execution {
  /** False: the transaction as a whole was reverted, and carried nothing. */
  readonly included: boolean
  /** Whether what was carried took effect. */
  readonly success: boolean
  readonly reason: string
  readonly deltas: ReadonlyArray<Delta>
  readonly transfers: ReadonlyArray<OutgoingTransfer>
  readonly undo: () => void
}

/** Runs calls one after the other; all of them, or nothing. */
const attempt = (accounts: Accounts, calls: (change: (delta: Delta) => void) => void) => {
  const deltas: Array<Delta> = []
  try {
    calls((delta) => {
      accounts.change(delta)
      deltas.push(delta)
    })
    return { deltas, reason: undefined }
  } catch (error) {
    if (!(error instanceof Reverted)) throw error
    accounts.undo(deltas.toReversed())
    return { deltas: [], reason: error.message }
  }
}

const swapIn = ({ at, output }: ExecutionTerms, account: string, swap: Swap, change: (delta: Delta) => void) => {
  const { buy, minBuyAmountRaw, sell, sellAmountRaw } = swap
  const bought = output(sell, buy, sellAmountRaw, at)
  if (bought === null || bought < minBuyAmountRaw) throw new Reverted("UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT")
  change({ account, assetId: sell, raw: -sellAmountRaw })
  change({ account: pools, assetId: sell, raw: sellAmountRaw })
  change({ account: pools, assetId: buy, raw: -bought })
  change({ account, assetId: buy, raw: bought })
}

const requireOpen = ({ accounts, at }: ExecutionTerms, account: string, { expiresAt, nonce }: WithdrawalMessage) => {
  if (accounts.withdrawn.has(withdrawalKey(account, nonce))) throw new Reverted("the nonce is used")
  if (Math.floor(at / 1000) > expiresAt) throw new Reverted("the authorization has expired")
}

const pay = (change: (delta: Delta) => void, account: string, recipient: string, assetId: AssetId, raw: bigint) => {
  change({ account, assetId, raw: -raw })
  change({ account: recipient, assetId, raw })
}

const settle = (terms: ExecutionTerms, { accountId, settlement }: UserOperation, change: (delta: Delta) => void) => {
  if (settlement === null) return
  const { assetId, keepRaw, message } = settlement
  requireOpen(terms, accountId, message)
  const raw = terms.accounts.balance(accountId, assetId) - keepRaw
  if (raw <= 0n) throw new Reverted("there is nothing to settle")
  pay(change, accountId, message.recipientAccountId, assetId, raw)
}

const operate = (terms: ExecutionTerms, operation: UserOperation): Execution => {
  const { accounts, at, txHash } = terms
  const { accountId, deadline, nonce, settlement, swaps, transfers } = operation
  const expected = accounts.nonces.get(accountId) ?? 0
  if (nonce !== expected) return refused("AA25 invalid account nonce")
  accounts.nonces.set(accountId, expected + 1)
  const { deltas, reason } = attempt(accounts, (change) => {
    if (swaps.length > 0 && Math.floor(at / 1000) > deadline) throw new Reverted("UniswapV2Router: EXPIRED")
    for (const swap of swaps) swapIn(terms, accountId, swap, change)
    for (const { amountRaw, sell } of transfers) pay(change, accountId, bridgeVault, sell, amountRaw)
    settle(terms, operation, change)
  })
  const success = reason === undefined
  const used = success && settlement !== null ? withdrawalKey(accountId, settlement.message.nonce) : undefined
  if (used !== undefined) accounts.withdrawn.set(used, txHash)
  return {
    included: true,
    success,
    reason: reason ?? "",
    deltas,
    transfers: success ? transfers : [],
    undo: () => {
      accounts.undo(deltas.toReversed())
      accounts.nonces.set(accountId, expected)
      if (used !== undefined) accounts.withdrawn.delete(used)
    }
  }
}

const withdraw = (terms: ExecutionTerms, { accountId, message }: OwnersWithdrawal): Execution => {
  const { accounts, txHash } = terms
  const { deltas, reason } = attempt(accounts, (change) => {
    requireOpen(terms, accountId, message)
    for (const { amountRaw, assetId } of message.assets)
      pay(change, accountId, message.recipientAccountId, assetId, BigInt(amountRaw))
  })
  if (reason !== undefined) return refused(reason)
  const used = withdrawalKey(accountId, message.nonce)
  accounts.withdrawn.set(used, txHash)
  return {
    included: true,
    success: true,
    reason: "",
    deltas,
    transfers: [],
    undo: () => {
      accounts.undo(deltas.toReversed())
      accounts.withdrawn.delete(used)
    }
  }
}

const refused = (reason: string): Execution => ({
  included: false,
  success: false,
  reason,
  deltas: [],
  transfers: [],
  undo: () => {}
})

export const execute = (terms: ExecutionTerms, payload: Payload | null): Execution => {
  if (payload === null) return refused("it carries nothing")
  return payload._tag === "UserOperation" ? operate(terms, payload) : withdraw(terms, payload)
}

/** The chain of what is carried. */
export const chainOfPayload = ({ accountId }: Payload) => chainIdOf(accountId)
