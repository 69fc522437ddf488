/**
 * What the owner takes out of a sub-account without anybody's help: the way that stays open when the service does
 * not answer.
 */
import { createTransferInstruction } from "@solana/spl-token"
import { PublicKey, SystemProgram } from "@solana/web3.js"
import { rootHoldings, subAccount } from "#layers/solana/swig/addresses.ts"
import {
  accountAt,
  actingRole,
  type Call,
  requireSystemAccount,
  store,
  subAccountOf,
  walletOf
} from "#sandbox/solana/swig/wallet.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"

/**
 * The program searches the owning role only among these; sub-accounts of later roles cannot be withdrawn from by the
 * root.
 */
const searchedRoles = Array.from({ length: 11 }, (_, role) => role)
const tokenForm = 9

/**
 * Moves lamports, or tokens, from the sub-account to the account that the root signs for. The root does that whether
 * the sub-account is enabled or not, the sub-account's own role while it is.
 */
export const withdrawFromSubAccount = (call: Call<"WithdrawFromSubAccount">) => {
  const { context, decoded, instruction } = call
  const before = walletOf(instruction, context)
  const [from, holdings] = [accountAt(instruction, 2), accountAt(instruction, 4)]
  requireSystemAccount(from, context)
  if (!rootHoldings(accountAt(instruction, 0)).address.equals(holdings)) throw refuse("subAccountOfAnotherWallet")
  const acting = actingRole(before, decoded.roleId, { ...decoded, instruction, context })
  const action = subAccountOf(acting.role, from.toBytes())
  if (action === undefined && !acting.isRoot) throw refuse("permissionMissing")
  if (action !== undefined && !action.isEnabled) throw refuse("subAccountDisabled")
  const isKnown = searchedRoles.some((role) => subAccount(acting.state.id, role).address.equals(from))
  if (action === undefined && !isKnown) throw refuse("subAccountOfAnotherWallet")
  store(acting.state, call)
  if (instruction.keys.length < tokenForm) {
    if (decoded.amount > context.lamportsOf(from)) throw refuse("rentSpent")
    return [SystemProgram.transfer({ fromPubkey: from, toPubkey: holdings, lamports: decoded.amount })]
  }
  const [source, destination] = [accountAt(instruction, 6), accountAt(instruction, 7)]
  const owner = context.dataOf(destination)?.slice(32, 64)
  // An account that the same transaction opens has no data here; the token program refuses what is not one.
  if (owner !== undefined && !holdings.equals(new PublicKey(owner))) throw refuse("tokensOfAnotherOwner")
  return [createTransferInstruction(source, destination, from, decoded.amount, [], context.ownerOf(source))]
}
