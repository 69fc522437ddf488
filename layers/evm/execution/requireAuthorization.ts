/**
 * Separates an account that needs a new signature of its owner before the agent may act from one that refuses an
 * operation for any other reason: by the reason of the refusal, and by the account's own state.
 *
 * A node that lags behind shows an account as it was, and the same operation fails on it as if the owner had taken the
 * permission back. So every endpoint that answers must show the same, twice; one that would let the operation pass, or
 * that shows the account in another state than it was built for, makes it transient.
 */
import { Duration, Effect } from "effect"
import type { Address, Hex } from "viem"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Authorization, ChainAuthorization } from "#domain/account/Authorization.ts"
import type { SignatureCause } from "#domain/account/RequiredSignatures.ts"
import { AuthorizationRequired } from "#domain/trading/SwapBatches.ts"
import { sleepRealTime } from "#layers/clock/withinRealTime.ts"
import { isSignedAt } from "#layers/evm/account/isSignedAt.ts"
import { decodePermission, type Permission, permissionCalls } from "#layers/evm/account/permissionState.ts"
import { addressOf, toViem, evmPolicy } from "#layers/evm/address.ts"
import { entryPoint } from "#layers/evm/contracts.ts"
import type { PermissionMode } from "#layers/evm/execution/agentOperation.ts"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"
import { readEach, concluded } from "#layers/evm/rpc/quorum.ts"

/** Pause between the two reads; behind one endpoint there are often many nodes. */
const pollInterval = Duration.seconds(2)

/**
 * The EntryPoint's codes for an account that reverts in validation, and for one that takes the signature for none or
 * for one of the past.
 */
export const refusedByAccount = (reason: string): boolean => /^AA2[234]\b/u.test(reason)

/** How the guard refuses a permission that is over: by its time, by the owner, or by a later permission. */
const guardRefusal = (reason: string): string | undefined =>
  reason.startsWith("AA22")
    ? "the agent's permission has expired"
    : /PermissionNotLive|NotTheLatest/u.test(reason)
      ? "the owner ended the agent's permission, or replaced it"
      : undefined

/** Kernel's error for an `Enable` message that the owner's validator does not accept. */
const isEnableRefused = (reason: string): boolean => reason.includes("EnableNotApproved")

export interface RefusedOperation {
  readonly authorization: Authorization
  readonly chain: ChainAuthorization
  /** How the operation enters the account. */
  readonly mode: PermissionMode
  readonly relayer: Address
  /** Calldata of `handleOps`, and the gas of its transaction. */
  readonly handleOps: Hex
  readonly gas: bigint
}

interface Finding {
  readonly cause: SignatureCause
  readonly reason: string
}

const revoked = (reason: string): Finding => ({ cause: "permission_revoked", reason })

/** The cause of the refusal in the account's state; null when a signature of the owner would not help. */
const conclude = (operation: RefusedOperation, permission: Permission | undefined, refusal: string): Finding | null => {
  const unaccepted = isEnableRefused(refusal)
    ? ({
        cause: "signature_refused",
        reason: `the account does not accept the owner's signature (${refusal})`
      } as const)
    : null
  const ended = evmPolicy(operation.chain).guard && guardRefusal(refusal)
  if (ended !== undefined) return revoked(`${ended} (${refusal})`)
  if (permission === undefined) return unaccepted
  if (permission.isEnabled) {
    return permission.nonce < permission.validFrom || !permission.hasHook
      ? revoked(`the owner made the agent's permission void (${refusal})`)
      : null
  }
  if (permission.nonce > 0) return revoked(`the owner removed the agent's permission (${refusal})`)
  return isSignedAt(operation.authorization, operation.chain, permission.currentNonce)
    ? unaccepted
    : revoked(`the owner made the signature void before it was used (${refusal})`)
}

/** What one endpoint shows; "elsewhere" when it would let the operation pass or shows the account in another state. */
const inspect = Effect.fnUntraced(function* (operation: RefusedOperation) {
  const { chain, gas, handleOps, mode, relayer } = operation
  const { chainId } = chain
  const calls = permissionCalls(toViem(addressOf(chain.accountId)), chain.permissionId as Hex)
  const results = yield* multicall(chainId, [...calls, { target: entryPoint, data: handleOps }], {
    from: relayer,
    gas: gas + 1_000_000n
  })
  const handled = results.at(-1)!
  const permission = yield* Effect.try({
    try: () => decodePermission(results),
    catch: () => new ChainUnavailable({ chainId, reason: `${chain.accountId} does not answer as a Kernel account` })
  })
  const refusal = handled.success ? "" : revertReason(handled.data)
  const isOtherState = (permission?.isEnabled === true ? "enabled" : "enable") !== mode
  return !refusedByAccount(refusal) || isOtherState ? "elsewhere" : conclude(operation, permission, refusal)
})

/** Asks every endpoint; null when one of those that answer sees no need for the owner. */
const askAll = Effect.fnUntraced(function* (operation: RefusedOperation) {
  const { chainId } = operation.chain
  const seen = yield* concluded(chainId, yield* readEach(chainId, () => inspect(operation)))
  if (seen.includes("elsewhere")) {
    return yield* new ChainUnavailable({
      chainId,
      reason: "its nodes do not agree about the account, or it changed while its operation was built"
    })
  }
  const findings = seen.filter((one): one is Finding | null => one !== "elsewhere")
  return findings.includes(null) ? null : findings[0]!
})

/** Fails with `AuthorizationRequired` when nothing but a new signature of the owner would help. */
export const requireAuthorization = Effect.fn("requireAuthorization")(function* (operation: RefusedOperation) {
  const { chainId, permissionId } = operation.chain
  if ((yield* askAll(operation)) === null) return
  yield* sleepRealTime(pollInterval)
  const finding = yield* askAll(operation)
  if (finding !== null) return yield* new AuthorizationRequired({ chainId, permissionId, ...finding })
})
