/** Withdrawals accepted straight in the stores, as stage 2 leaves them, and how they end. */
import { DateTime, Effect, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { type AssetId, type AccountId, type EvmAddress, evmAccount, chainIdOf } from "#domain/values/Caip.ts"
import { makeOperationId, type OperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { isTerminal, type OperationState } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { type NonceClaimRequest, WithdrawalStore } from "#domain/withdrawal/WithdrawalStore.ts"
import { patience } from "#test/support/suite/patience.ts"

const recipientAddress = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" as EvmAddress

export const recipientOf = (account: AccountId): AccountId => evmAccount(chainIdOf(account), recipientAddress)

export interface Enrolled {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
}

/** A message over assets of an account, with a fresh nonce; it expires in the year 2100. */
export const messageOf = Effect.fnUntraced(function* (
  { portfolioId }: Enrolled,
  account: AccountId,
  {
    assets,
    changes = {}
  }: {
    readonly assets: ReadonlyArray<readonly [AssetId, bigint]>
    readonly changes?: Partial<WithdrawalMessage> | undefined
  }
) {
  const random = yield* SecureRandom.SecureRandom
  const message: WithdrawalMessage = {
    portfolioId,
    recipientAccountId: recipientOf(account),
    assets: assets.map(([assetId, raw]) => ({ assetId, amountRaw: raw.toString() })),
    nonce: `0x${Hex.encode(yield* random.randomBytes(32))}`,
    expiresAt: 4_102_444_800,
    ...changes
  }
  return message
})

export const claimOf = Effect.fnUntraced(function* (tenantId: TenantId, nonce: string, body = "one") {
  const now = yield* DateTime.now
  const claim: NonceClaimRequest = {
    tenantId,
    nonce,
    requestHash: new TextEncoder().encode(body),
    now,
    leaseUntil: DateTime.add(now, { seconds: 60 })
  }
  return claim
})

/** Claims the nonce and accepts the withdrawal; answers its operation. */
export const acceptWithdrawal = Effect.fnUntraced(function* (
  { portfolioId, tenantId }: Enrolled,
  { accountId, message }: { readonly accountId: AccountId; readonly message: WithdrawalMessage },
  { acceptedAtBlock = 1n, signature = "0x1b" } = {}
) {
  const store = yield* WithdrawalStore
  const claim = yield* claimOf(tenantId, message.nonce)
  yield* store.claim(claim)
  const operationId = yield* makeOperationId
  const submittedAt = yield* DateTime.now
  yield* store.accept(
    { tenantId, portfolioId, accountId, message, signature, operationId, submittedAt, acceptedAtBlock },
    claim
  )
  return operationId
})

/** The operation, once it is in a state that the test waits for; a terminal one when none is named. */
export const reached = Effect.fnUntraced(function* (
  { portfolioId, tenantId }: Enrolled,
  operationId: OperationId,
  wanted: (state: OperationState) => boolean = isTerminal
) {
  const store = yield* OperationStore
  return yield* store.find(tenantId, portfolioId, operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail(({ state }) => wanted(state)),
    Effect.retry(Schedule.spaced("25 millis")),
    Effect.timeout(patience)
  )
})

/** Kinds of the operation's events, in order; those of a change of state as the state. */
export const history = Effect.fnUntraced(function* (operationId: OperationId) {
  const events = yield* Effect.flatMap(OperationStore, (store) => store.events(operationId, 0, 100))
  return events.map(({ kind, payload }) => (kind === "state" ? (payload as { readonly state: string }).state : kind))
})
