/** Instructions that a wallet's own addresses sign: those of a sub-account, and those of the root. */
import { type PublicKey, TransactionInstruction } from "@solana/web3.js"
import { rootHoldings } from "#layers/solana/swig/addresses.ts"
import type { PackedInstruction } from "#layers/solana/swig/SwigInstruction.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"
import {
  accountAt,
  actingRole,
  type Call,
  requireSystemAccount,
  store,
  subAccountOf,
  walletOf
} from "#sandbox/solana/swig/wallet.ts"

export const signForSubAccount = (call: Call<"SignForSubAccount">) => {
  const { context, decoded, instruction } = call
  if (context.depth > 0) throw refuse("calledByProgram")
  const before = walletOf(instruction, context)
  const account = accountAt(instruction, 1)
  requireSystemAccount(account, context)
  const { role, state } = actingRole(before, decoded.roleId, { ...decoded, instruction, context })
  const action = subAccountOf(role, account.toBytes())
  if (action === undefined) throw refuse("subAccountOfAnotherWallet")
  if (!action.isEnabled) throw refuse("subAccountDisabled")
  store(state, call)
  context.requireLamports(account, context.rentOf(0), refuse("rentSpent").code)
  return unpack(call, account)
}

export const signForRoot = (call: Call<"SignForRoot">) => {
  const { context, decoded, instruction } = call
  if (context.depth > 0) throw refuse("calledByProgram")
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

/**
 * The packed instructions, with the wallet's own address as a signer. Whoever signed the transaction signs them too,
 * the payer among them.
 */
const unpack = (
  { context, decoded, instruction }: Call<"SignForSubAccount"> | Call<"SignForRoot">,
  signer: PublicKey
): ReadonlyArray<TransactionInstruction> => {
  const metaOf = (index: number) => {
    const meta = instruction.keys[index]
    if (meta === undefined) throw refuse("wrongAccounts")
    return { ...meta, isSigner: meta.isSigner || meta.pubkey.equals(signer) }
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
