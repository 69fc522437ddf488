/** Instructions that a wallet's own addresses sign: those of a sub-account, and those of the root. */
import { type PublicKey, TransactionInstruction } from "@solana/web3.js"
import { rootHoldings } from "#layers/solana/swig/addresses.ts"
import type { PackedInstruction } from "#layers/solana/swig/SwigInstruction.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"
import { accountAt, actingRole, type Call, store, subAccountOf, walletOf } from "#sandbox/solana/swig/wallet.ts"

export const signForSubAccount = (call: Call<"SignForSubAccount">) => {
  const { context, decoded, instruction } = call
  const { role, state } = actingRole(walletOf(instruction, context), decoded.roleId, {
    ...decoded,
    instruction,
    context
  })
  const account = accountAt(instruction, 1)
  const action = subAccountOf(role)
  if (action === undefined) throw refuse("permissionMissing")
  if (!Buffer.from(action.subAccount).equals(account.toBytes())) throw refuse("subAccountOfAnotherRole")
  if (!action.isEnabled) throw refuse("subAccountDisabled")
  store(state, call)
  context.requireLamports(account, context.rentOf(0), refuse("rentSpent").code)
  return unpack(call, account)
}

export const signForRoot = (call: Call<"SignForRoot">) => {
  const { context, decoded, instruction } = call
  const { isRoot, state } = actingRole(walletOf(instruction, context), decoded.roleId, {
    ...decoded,
    instruction,
    context
  })
  const holdings = accountAt(instruction, 1)
  if (!rootHoldings(accountAt(instruction, 0)).address.equals(holdings)) throw refuse("wrongWalletAddress")
  if (!isRoot) throw refuse("permissionMissing")
  store(state, call)
  context.requireLamports(holdings, context.rentOf(0), refuse("rentSpent").code)
  return unpack(call, holdings)
}

/** The packed instructions, with the wallet's own address as a signer and the role's holder as none. */
const unpack = (
  { context, decoded, instruction }: Call<"SignForSubAccount"> | Call<"SignForRoot">,
  signer: PublicKey
): ReadonlyArray<TransactionInstruction> => {
  const holder = decoded.proof._tag === "Signer" ? accountAt(instruction, decoded.proof.index) : undefined
  const metaOf = (index: number) => {
    const meta = instruction.keys[index]
    if (meta === undefined) throw refuse("wrongAccounts")
    const isHolder = holder !== undefined && meta.pubkey.equals(holder)
    return { ...meta, isSigner: (meta.isSigner && !isHolder) || meta.pubkey.equals(signer) }
  }
  return decoded.inner.flatMap(({ accounts, data, program }: PackedInstruction) =>
    context.call(
      new TransactionInstruction({
        programId: accountAt(instruction, program),
        keys: accounts.map(metaOf),
        data: Buffer.from(data)
      })
    )
  )
}
