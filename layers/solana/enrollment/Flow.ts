/** What an enrollment on Solana is about, as stage 1 stores it under its `flowId` and stage 2 reads it. */
import type { PublicKey } from "@solana/web3.js"
import { Effect, Schema } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Consent, Step } from "#layers/solana/swig/Plan.ts"
import { EnrollmentOvertaken } from "#layers/solana/enrollment/errors.ts"
import { stateIn, type Wallet, type WalletOwner, walletOf } from "#layers/solana/enrollment/findWallet.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { walletConfig } from "#layers/solana/swig/addresses.ts"
import { addressesOf, PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"

export const WalletSubAccount = Schema.Struct({
  ...PortfolioRole.fields,
  /** The wallet is there already: `reusedWallet`. */
  isReused: Schema.Boolean,
  /** What an EVM owner's signature must count. Clients need it for a reused wallet. */
  odometer: Schema.Int
})
export type WalletSubAccount = typeof WalletSubAccount.Type

export const subAccountOf = ({ id, odometer, roleId, state }: Wallet): WalletSubAccount => ({
  walletId: id,
  roleId,
  isReused: state !== null,
  odometer
})

/** The steps that make the portfolio's sub-account, all or nothing. */
export const stepsOf = (
  { isReused, roleId, walletId: id }: WalletSubAccount,
  consent: Consent
): ReadonlyArray<Step> => [
  ...(isReused ? [] : [{ _tag: "CreateWallet" as const, id, consent }]),
  { _tag: "AddAgent", id, consent },
  { _tag: "CreateSubAccount", id, roleId }
]

/** Fails when the wallet is no longer as stage 1 found it. */
export const requireUnchanged = Effect.fnUntraced(function* (
  subAccount: WalletSubAccount,
  owner: WalletOwner
): Effect.fn.Return<void, ChainUnavailable | EnrollmentOvertaken, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const { values } = yield* rpc.accounts([walletConfig(subAccount.walletId).address])
  const wallet = walletOf(subAccount.walletId, values[0]!, owner)
  const isSame =
    wallet !== undefined &&
    wallet.roleId === subAccount.roleId &&
    wallet.odometer === subAccount.odometer &&
    (wallet.state !== null) === subAccount.isReused
  if (isSame) return
  return yield* new EnrollmentOvertaken({
    message: "The owner's Solana wallet changed after this flow was issued; request a new one and sign that"
  })
})

/**
 * Whether the wallet shows the portfolio's sub-account as it was requested: the agent's role with its enabled
 * sub-account.
 */
export const isMade = Effect.fn("solana.isMade")(function* (
  subAccount: WalletSubAccount,
  agent: PublicKey
): Effect.fn.Return<boolean, ChainUnavailable, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const { deposit, wallet } = addressesOf(subAccount)
  const { values } = yield* rpc.accounts([wallet])
  const role = stateIn(values[0]!)?.roles.find(({ id }) => id === subAccount.roleId)
  return (
    role?.holder._tag === "Ed25519" &&
    role.holder.key.equals(agent) &&
    role.actions.some(
      (action) =>
        action._tag === "SubAccount" && action.isEnabled && Buffer.from(action.subAccount).equals(deposit.toBytes())
    )
  )
})
