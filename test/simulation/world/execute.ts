/** What a simulated chain does with a transaction: the rules of EntryPoint, router, bridge and withdrawal executor. */
import type { AssetId, AccountId } from "#domain/values/Caip.ts"
import type { Swap } from "#domain/trading/Swap.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { tokensOf, type WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { attestationLife, attestedIn } from "#test/simulation/world/attested.ts"
import { type Accounts, type Delta, Reverted, withdrawalKey } from "#test/simulation/world/Accounts.ts"
import {
  type OwnersWithdrawal,
  type Payload,
  actionHashOf,
  type UserOperation
} from "#test/simulation/world/Payload.ts"

/** Counterparties of accounts, so that no unit comes from nowhere. */
export const pools = "pools"
export const bridgeVault = "bridge"

export interface ExecutionTerms {
  readonly accounts: Accounts
  readonly txHash: string
  /** Time of the block. */
  readonly at: number
  readonly output: (pair: { readonly sell: AssetId; readonly buy: AssetId }, raw: bigint, at: number) => bigint | null
}

/** What became of one payload of a transaction that took place. */
export interface Part {
  readonly accountId: AccountId
  readonly actionHash: string
  /** The tag that it has; null where it has none. */
  readonly operationId: string | null
  /** True for an agent's; else it is a withdrawal by the owner. */
  readonly isOperation: boolean
  /** Whether it took effect. */
  readonly success: boolean
  readonly reason: string
  /** It trades what needs an attested price, and includes none. */
  readonly isUnattested: boolean
  readonly deltas: ReadonlyArray<Delta>
  readonly transfers: ReadonlyArray<OutgoingTransfer>
}

export interface Execution {
  /** False: the transaction as a whole was reverted, and included nothing. */
  readonly included: boolean
  /** Why it was reverted. */
  readonly reason: string
  /** The index of the payload that is to blame. */
  readonly culprit: number
  readonly parts: ReadonlyArray<Part>
  /** Changes of all parts, in order. */
  readonly deltas: ReadonlyArray<Delta>
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

const swapIn = (
  { at, output }: ExecutionTerms,
  { account, swap }: { readonly account: string; readonly swap: Swap },
  change: (delta: Delta) => void
) => {
  const { buy, minBuyAmountRaw, sell, sellAmountRaw } = swap
  const bought = output({ sell, buy }, sellAmountRaw, at)
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

const pay = (
  change: (delta: Delta) => void,
  { account, recipient }: { readonly account: string; readonly recipient: string },
  { assetId, raw }: { readonly assetId: AssetId; readonly raw: bigint }
) => {
  change({ account, assetId, raw: -raw })
  change({ account: recipient, assetId, raw })
}

const settle = (terms: ExecutionTerms, { accountId, settlement }: UserOperation, change: (delta: Delta) => void) => {
  if (settlement === null) return
  const { assetId, keepRaw, message } = settlement
  requireOpen(terms, accountId, message)
  const raw = terms.accounts.balance(accountId, assetId) - keepRaw
  if (raw <= 0n) throw new Reverted("there is nothing to settle")
  pay(change, { account: accountId, recipient: message.recipientAccountId }, { assetId, raw })
}

/** Takes the nonce; answers why the EntryPoint refuses the operation. */
const validate = ({ accounts }: ExecutionTerms, payload: Payload): string | undefined => {
  if (payload._tag === "OwnersWithdrawal") return undefined
  const expected = accounts.nonces.get(payload.accountId) ?? 0
  if (payload.nonce !== expected) return "AA25 invalid account nonce"
  accounts.nonces.set(payload.accountId, expected + 1)
  return undefined
}

const giveBack = ({ accounts }: ExecutionTerms, payloads: ReadonlyArray<Payload>): void => {
  for (const payload of payloads.toReversed())
    if (payload._tag === "UserOperation") accounts.nonces.set(payload.accountId, payload.nonce)
}

const partOf = (payload: Payload, { deltas, reason }: ReturnType<typeof attempt>): Part => ({
  accountId: payload.accountId,
  actionHash: actionHashOf(payload),
  isOperation: payload._tag === "UserOperation",
  operationId: payload._tag === "UserOperation" ? payload.operationId : null,
  success: reason === undefined,
  reason: reason ?? "",
  isUnattested: payload._tag === "UserOperation" && payload.attestedAt === null && attestedIn(payload.swaps).length > 0,
  deltas,
  transfers: payload._tag === "UserOperation" && reason === undefined ? payload.transfers : []
})

/** An operation whose calls revert is included all the same. */
const operate = (terms: ExecutionTerms, operation: UserOperation): Part => {
  const { accounts, at, txHash } = terms
  const { accountId, attestedAt, deadline, settlement, swaps, transfers } = operation
  const part = partOf(
    operation,
    attempt(accounts, (change) => {
      if (swaps.length > 0 && Math.floor(at / 1000) > deadline) throw new Reverted("UniswapV2Router: EXPIRED")
      if (attestedAt !== null && Math.floor(at / 1000) > attestedAt + attestationLife)
        throw new Reverted("TradeGuard: STALE")
      for (const swap of swaps) swapIn(terms, { account: accountId, swap }, change)
      for (const { amountRaw, sell } of transfers)
        pay(change, { account: accountId, recipient: bridgeVault }, { assetId: sell, raw: amountRaw })
      settle(terms, operation, change)
    })
  )
  if (part.success && settlement !== null)
    accounts.withdrawn.set(withdrawalKey(accountId, settlement.message.nonce), txHash)
  return part
}

const withdraw = (terms: ExecutionTerms, withdrawal: OwnersWithdrawal): Part => {
  const { accountId, message } = withdrawal
  const part = partOf(
    withdrawal,
    attempt(terms.accounts, (change) => {
      requireOpen(terms, accountId, message)
      for (const { amountRaw, assetId } of tokensOf(message))
        pay(change, { account: accountId, recipient: message.recipientAccountId }, { assetId, raw: BigInt(amountRaw) })
    })
  )
  if (part.success) terms.accounts.withdrawn.set(withdrawalKey(accountId, message.nonce), terms.txHash)
  return part
}

const withdrawalOf = (payload: Payload): WithdrawalMessage | undefined =>
  payload._tag === "UserOperation" ? payload.settlement?.message : payload.message

const refused = (reason: string, culprit = 0): Execution => ({
  included: false,
  reason,
  culprit,
  parts: [],
  deltas: [],
  undo: () => {}
})

/**
 * All operations are validated first: one that is not valid reverts the whole. Then each takes effect or not by itself.
 */
export const execute = (terms: ExecutionTerms, payloads: ReadonlyArray<Payload>): Execution => {
  if (payloads.length === 0) return refused("it does nothing")
  for (const [place, payload] of payloads.entries()) {
    const reason = validate(terms, payload)
    if (reason === undefined) continue
    giveBack(terms, payloads.slice(0, place))
    return refused(reason, place)
  }
  const parts = payloads.map((payload) =>
    payload._tag === "UserOperation" ? operate(terms, payload) : withdraw(terms, payload)
  )
  const deltas = parts.flatMap((part) => part.deltas)
  const undo = () => {
    terms.accounts.undo(deltas.toReversed())
    giveBack(terms, payloads)
    for (const [place, payload] of payloads.entries()) {
      const message = withdrawalOf(payload)
      if (message !== undefined && parts[place]!.success)
        terms.accounts.withdrawn.delete(withdrawalKey(payload.accountId, message.nonce))
    }
  }
  const refusal = parts.findIndex((part, place) => !part.success && payloads[place]!._tag === "OwnersWithdrawal")
  if (refusal < 0) return { included: true, reason: "", culprit: 0, parts, deltas, undo }
  // The executor of withdrawals reverts with its withdrawal.
  undo()
  return refused(parts[refusal]!.reason, refusal)
}
