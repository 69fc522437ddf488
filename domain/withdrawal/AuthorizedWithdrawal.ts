/** A withdrawal with everything that carrying it out needs: the signature, the message and the account. */
import type { AccountId } from "#domain/values/Caip.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { SignedWithdrawal } from "#domain/account/WithdrawalMessage.ts"

export interface AuthorizedWithdrawal extends SignedWithdrawal {
  /** The account that gives. */
  readonly accountId: AccountId
  /** What counts on the account's chain: its owner, and how the account is deployed. */
  readonly grant: Grant
}
