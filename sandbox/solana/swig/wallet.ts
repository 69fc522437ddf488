/** What every instruction of the emulated program begins with: the wallet, and a role whose holder agreed. */
import { type PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js"
import { swigProgram, walletConfig } from "#layers/solana/swig/addresses.ts"
import type { Proof } from "#layers/solana/swig/Authority.ts"
import type { SwigInstruction } from "#layers/solana/swig/SwigInstruction.ts"
import { decodeWalletState, type WalletRole, type WalletState } from "#layers/solana/swig/WalletState.ts"
import type { ProgramContext } from "#sandbox/solana/Emulation.ts"
import { authenticate } from "#sandbox/solana/swig/authenticate.ts"
import { encodeWalletState } from "#sandbox/solana/swig/encodeWalletState.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"

type Of<Tag extends SwigInstruction["_tag"]> = Extract<SwigInstruction, { readonly _tag: Tag }>

/** An instruction as it stands, and the chain around it. */
export interface CallSite {
  readonly instruction: TransactionInstruction
  readonly context: ProgramContext
}

/** One call of the program, read. */
export interface Call<Tag extends SwigInstruction["_tag"]> extends CallSite {
  readonly decoded: Of<Tag>
}

/** The account at an index of the instruction. */
export const accountAt = (instruction: TransactionInstruction, index: number): PublicKey => {
  const account = instruction.keys[index]
  if (account === undefined) throw refuse("wrongAccounts")
  return account.pubkey
}

/** The wallet that an instruction names first; it is an account of the program. */
export const walletOf = (instruction: TransactionInstruction, context: ProgramContext): WalletState => {
  if (!context.ownerOf(accountAt(instruction, 0)).equals(swigProgram)) throw refuse("walletOfAnotherProgram")
  const data = context.dataOf(accountAt(instruction, 0))
  if (data === undefined || data.length === 0) throw refuse("wrongWalletAddress")
  const state = decodeWalletState(data)
  if (!walletConfig(state.id).address.equals(accountAt(instruction, 0))) throw refuse("wrongWalletAddress")
  return state
}

/** A sub-account has no data and is the system program's. */
export const requireSystemAccount = (account: PublicKey, context: ProgramContext): void => {
  if (!context.ownerOf(account).equals(SystemProgram.programId)) throw refuse("subAccountOfAnotherProgram")
}

const isAll = ({ actions }: WalletRole) => actions.some(({ _tag }) => _tag === "All")

/** The role's permission for a sub-account. */
export const subAccountOf = ({ actions }: WalletRole, account: Uint8Array) =>
  actions
    .filter((action) => action._tag === "SubAccount")
    .find(({ subAccount }) => Buffer.from(subAccount).equals(account))

/** The role, once its holder has agreed, in the wallet as it is then. */
export const actingRole = (
  state: WalletState,
  roleId: number,
  claim: CallSite & { readonly proof: Proof; readonly signed: Uint8Array }
): { readonly state: WalletState; readonly role: WalletRole; readonly isRoot: boolean } => {
  const found = state.roles.find(({ id }) => id === roleId)
  if (found === undefined) throw refuse("roleMissing")
  const role = { ...found, holder: authenticate(found.holder, { ...claim, slot: claim.context.slot }) }
  return { state: withRole(state, role), role, isRoot: isAll(role) }
}

export const withRole = (state: WalletState, role: WalletRole): WalletState => ({
  ...state,
  roles: state.roles.map((one) => (one.id === role.id ? role : one))
})

/** Stages the wallet, and lets the payer add the rent of what it has grown by. */
export const grow = (before: WalletState, after: WalletState, { context, instruction }: CallSite) => {
  const [old, data] = [encodeWalletState(before), encodeWalletState(after)]
  context.stage(accountAt(instruction, 0), data)
  const lamports = context.rentOf(data.length) - context.rentOf(old.length)
  if (lamports <= 0n) return []
  return [
    SystemProgram.transfer({
      fromPubkey: accountAt(instruction, 1),
      toPubkey: accountAt(instruction, 0),
      lamports
    })
  ]
}

/** Stages a wallet that is smaller than before, and gives its payer the rent of what it no longer holds. */
export const shrink = (before: WalletState, after: WalletState, site: CallSite): void => {
  const { context, instruction } = site
  const freed = context.rentOf(encodeWalletState(before).length) - context.rentOf(encodeWalletState(after).length)
  store(after, site)
  context.pay(accountAt(instruction, 0), accountAt(instruction, 1), freed)
}

export const store = (state: WalletState, { context, instruction }: CallSite) =>
  context.stage(accountAt(instruction, 0), encodeWalletState(state))
