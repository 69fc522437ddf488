/**
 * What the owner takes out of a sub-account without anybody's help: the way that stays open when the service does
 * not answer.
 */
import { createTransferInstruction } from "@solana/spl-token"
import { SystemProgram } from "@solana/web3.js"
import { rootHoldings, subAccount } from "#layers/solana/swig/addresses.ts"
import { accountAt, actingRole, type Call, store, walletOf } from "#sandbox/solana/swig/wallet.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"

/**
 * The program searches the owning role only among these; sub-accounts of later roles cannot be withdrawn from by the
 * root.
 */
const searchedRoles = Array.from({ length: 11 }, (_, role) => role)
const tokenForm = 9

/** Moves lamports, or tokens, from the sub-account to the account that the root signs for. */
export const withdrawFromSubAccount = (call: Call<"WithdrawFromSubAccount">) => {
  const { context, decoded, instruction } = call
  const acting = actingRole(walletOf(instruction, context), decoded.roleId, { ...decoded, instruction, context })
  if (!acting.isRoot) throw refuse("permissionMissing")
  const [from, holdings] = [accountAt(instruction, 2), accountAt(instruction, 4)]
  if (!rootHoldings(accountAt(instruction, 0)).address.equals(holdings)) throw refuse("subAccountOfAnotherWallet")
  if (!searchedRoles.some((role) => subAccount(acting.state.id, role).address.equals(from))) {
    throw refuse("subAccountOfAnotherWallet")
  }
  store(acting.state, call)
  if (instruction.keys.length < tokenForm) {
    if (decoded.amount > context.lamportsOf(from)) throw refuse("rentSpent")
    return [SystemProgram.transfer({ fromPubkey: from, toPubkey: holdings, lamports: decoded.amount })]
  }
  const [source, destination, program] = [6, 7, 8].map((index) => accountAt(instruction, index))
  return [createTransferInstruction(source!, destination!, from, decoded.amount, [], program!)]
}
