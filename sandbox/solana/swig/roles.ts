/** Wallets, roles and sub-accounts: the instructions that change who may do what. */
import { PublicKey, SystemProgram } from "@solana/web3.js"
import { rootHoldings, subAccount, swigProgram, walletConfig } from "#layers/solana/swig/addresses.ts"
import type { RoleHolder, WalletRole } from "#layers/solana/swig/WalletState.ts"
import { compress } from "#sandbox/solana/swig/authenticate.ts"
import { encodeWalletState } from "#sandbox/solana/swig/encodeWalletState.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"
import {
  accountAt,
  actingRole,
  type Call,
  grow,
  requireSystemAccount,
  shrink,
  store,
  subAccountOf,
  walletOf,
  withRole
} from "#sandbox/solana/swig/wallet.ts"

export const createWallet = ({ context, decoded, instruction }: Call<"CreateWallet">) => {
  const [config, payer, holdings] = [0, 1, 2].map((index) => accountAt(instruction, index)) as [
    PublicKey,
    PublicKey,
    PublicKey
  ]
  const derived = walletConfig(decoded.id)
  const derivedHoldings = rootHoldings(config)
  if (!derived.address.equals(config) || derived.bump !== decoded.bump) throw refuse("wrongWalletAddress")
  if (!derivedHoldings.address.equals(holdings)) throw refuse("wrongWalletAddress")
  if (context.lamportsOf(config) > 0n || context.dataOf(config) !== undefined) throw refuse("walletExists")
  if (decoded.actions.length === 0) throw refuse("noAction")
  const { authority } = decoded
  const data = encodeWalletState({
    id: decoded.id,
    bump: decoded.bump,
    holdingsBump: derivedHoldings.bump,
    nextRole: 1,
    scopedSubAccounts: 0,
    roles: [
      {
        id: 0,
        holder: authority._tag === "Ed25519" ? authority : { ...authority, key: compress(authority.key), odometer: 0 },
        actions: decoded.actions
      }
    ]
  })
  context.stage(config, data)
  const missing = context.rentOf(0) - context.lamportsOf(holdings)
  return [
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey: config,
      lamports: Number(context.rentOf(data.length)),
      space: data.length,
      programId: swigProgram
    }),
    ...(missing > 0n ? [SystemProgram.transfer({ fromPubkey: payer, toPubkey: holdings, lamports: missing })] : [])
  ]
}

export const addAuthority = (call: Call<"AddAuthority">) => {
  const { context, decoded, instruction } = call
  const before = walletOf(instruction, context)
  if (!accountAt(instruction, 2).equals(SystemProgram.programId)) throw refuse("notSystemProgram")
  const { isRoot, state } = actingRole(before, decoded.actingRole, { ...decoded, instruction, context })
  if (!isRoot) throw refuse("mayNotManageAuthorities")
  if (decoded.actions.length === 0) throw refuse("noAction")
  const { actions, authority } = decoded
  const role: WalletRole = {
    id: state.nextRole,
    holder: authority._tag === "Ed25519" ? authority : { ...authority, key: compress(authority.key), odometer: 0 },
    actions
  }
  return grow(before, { ...state, nextRole: state.nextRole + 1, roles: [...state.roles, role] }, call)
}

/** A role may also remove itself. What it left on token accounts stays, and its sub-account has no role any more. */
export const removeAuthority = (call: Call<"RemoveAuthority">) => {
  const { context, decoded, instruction } = call
  const before = walletOf(instruction, context)
  if (!accountAt(instruction, 2).equals(SystemProgram.programId)) throw refuse("notSystemProgram")
  if (decoded.removedRole === 0) throw refuse("rootIsNotRemoved")
  const acting = actingRole(before, decoded.actingRole, { ...decoded, instruction, context })
  if (!acting.isRoot && decoded.actingRole !== decoded.removedRole) throw refuse("mayNotManageAuthorities")
  const roles = acting.state.roles.filter(({ id }) => id !== decoded.removedRole)
  if (roles.length === acting.state.roles.length) throw refuse("roleMissing")
  shrink(before, { ...acting.state, roles }, call)
  return []
}

/** The role keeps its id, its permissions and its sub-account; another key holds it. */
export const replaceAuthority = (call: Call<"ReplaceAuthority">) => {
  const { context, decoded, instruction } = call
  const before = walletOf(instruction, context)
  const { isRoot, state } = actingRole(before, decoded.actingRole, { ...decoded, instruction, context })
  if (!isRoot) throw refuse("permissionMissing")
  const role = state.roles.find(({ id }) => id === decoded.replacedRole)
  if (role === undefined) throw refuse("roleMissing")
  store(withRole(state, { ...role, holder: heldBy(role.holder, decoded.key) }), call)
  return []
}

const heldBy = (holder: RoleHolder, key: Uint8Array): RoleHolder => {
  if (holder._tag === "Ed25519") {
    if (key.length !== 32) throw refuse("wrongKeyLength")
    if (holder.key.equals(new PublicKey(key))) throw refuse("sameKey")
    return { _tag: "Ed25519", key: new PublicKey(key) }
  }
  if (holder._tag === "Other") throw refuse("unsupportedHolder")
  if (key.length !== 33 && key.length !== 64) throw refuse("wrongKeyLength")
  const compressed = compress(key)
  if (Buffer.from(holder.key).equals(compressed)) throw refuse("sameKey")
  return { ...holder, key: compressed, odometer: 0 }
}

const noSubAccount = new Uint8Array(32)

export const createSubAccount = (call: Call<"CreateSubAccount">) => {
  const { context, decoded, instruction } = call
  const before = walletOf(instruction, context)
  requireSystemAccount(accountAt(instruction, 2), context)
  const { role, state } = actingRole(before, decoded.roleId, { ...decoded, instruction, context })
  const action = subAccountOf(role, noSubAccount)
  if (action === undefined) throw refuse("mayNotCreateSubAccount")
  const { address, bump } = subAccount(state.id, role.id)
  if (!address.equals(accountAt(instruction, 2)) || bump !== decoded.bump) throw refuse("wrongWalletAddress")
  const made = { ...action, subAccount: address.toBytes(), bump, isEnabled: true, roleId: role.id, walletId: state.id }
  store(withRole(state, { ...role, actions: role.actions.map((one) => (one === action ? made : one)) }), call)
  const missing = context.rentOf(0) - context.lamportsOf(address)
  if (missing <= 0n) return []
  return [SystemProgram.transfer({ fromPubkey: accountAt(instruction, 1), toPubkey: address, lamports: missing })]
}

/** The root switches any sub-account; a role switches its own, also on again. */
export const toggleSubAccount = (call: Call<"ToggleSubAccount">) => {
  const { context, decoded, instruction } = call
  const before = walletOf(instruction, context)
  const account = accountAt(instruction, 2)
  requireSystemAccount(account, context)
  const acting = actingRole(before, decoded.actingRole, { ...decoded, instruction, context })
  if (!acting.isRoot && decoded.subAccountRole !== decoded.actingRole) throw refuse("permissionMissing")
  const role = acting.state.roles.find(({ id }) => id === decoded.subAccountRole)
  if (role === undefined) throw refuse("roleMissing")
  const action = subAccountOf(role, account.toBytes())
  if (action === undefined) throw refuse("permissionMissing")
  const actions = role.actions.map((one) => (one === action ? { ...action, isEnabled: decoded.isEnabled } : one))
  store(withRole(acting.state, { ...role, actions }), call)
  return []
}
