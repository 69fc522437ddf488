/** Wallets, roles and sub-accounts: the instructions that change who may do what. */
import { type PublicKey, SystemProgram } from "@solana/web3.js"
import { rootHoldings, subAccount, swigProgram, walletConfig } from "#layers/solana/swig/addresses.ts"
import type { WalletRole } from "#layers/solana/swig/WalletState.ts"
import { compress } from "#sandbox/solana/swig/authenticate.ts"
import { encodeWalletState } from "#sandbox/solana/swig/encodeWalletState.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"
import {
  accountAt,
  actingRole,
  type Call,
  grow,
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

export const removeAuthority = (call: Call<"RemoveAuthority">) => {
  const { context, decoded, instruction } = call
  if (decoded.removedRole === 0) throw refuse("rootIsNotRemoved")
  const acting = actingRole(walletOf(instruction, context), decoded.actingRole, { ...decoded, instruction, context })
  if (!acting.isRoot) throw refuse("mayNotManageAuthorities")
  const roles = acting.state.roles.filter(({ id }) => id !== decoded.removedRole)
  if (roles.length === acting.state.roles.length) throw refuse("roleMissing")
  store({ ...acting.state, roles }, call)
  return []
}

export const createSubAccount = (call: Call<"CreateSubAccount">) => {
  const { context, decoded, instruction } = call
  const before = walletOf(instruction, context)
  const { role, state } = actingRole(before, decoded.roleId, { ...decoded, instruction, context })
  const action = subAccountOf(role)
  if (action === undefined) throw refuse("mayNotCreateSubAccount")
  if (action.roleId !== 0) throw refuse("subAccountExists")
  const { address, bump } = subAccount(state.id, role.id)
  if (!address.equals(accountAt(instruction, 2)) || bump !== decoded.bump) throw refuse("wrongSubAccountAddress")
  const made = { ...action, subAccount: address.toBytes(), bump, isEnabled: true, roleId: role.id, walletId: state.id }
  store(withRole(state, { ...role, actions: role.actions.map((one) => (one === action ? made : one)) }), call)
  const missing = context.rentOf(0) - context.lamportsOf(address)
  if (missing <= 0n) return []
  return [SystemProgram.transfer({ fromPubkey: accountAt(instruction, 1), toPubkey: address, lamports: missing })]
}

export const toggleSubAccount = (call: Call<"ToggleSubAccount">) => {
  const { context, decoded, instruction } = call
  const acting = actingRole(walletOf(instruction, context), decoded.actingRole, { ...decoded, instruction, context })
  const role = acting.state.roles.find(({ id }) => id === decoded.subAccountRole)
  if (role === undefined) throw refuse("roleMissing")
  if (!acting.isRoot && role.id !== decoded.actingRole) throw refuse("permissionMissing")
  const actions = role.actions.map((action) =>
    action._tag === "SubAccount" ? { ...action, isEnabled: decoded.isEnabled } : action
  )
  store(withRole(acting.state, { ...role, actions }), call)
  return []
}
