/** Port: whether a withdrawal was signed by the portfolio's owner, and how it is carried out without this service. */
import { Context, type Effect } from "effect"
import type { EvmAddress } from "#domain/Caip.ts"
import type { VerifierUnavailable } from "#domain/Errors.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"

/** A transaction that anybody may send. */
export interface SelfSubmission {
  readonly to: EvmAddress
  readonly data: string
}

export class WithdrawalVerifier extends Context.Service<
  WithdrawalVerifier,
  {
    /**
     * Rebuilds the typed data and checks the signature over it: of a wallet by recovery, of a contract by asking it on
     * the account's chain (ERC-1271). Fails when that chain cannot be asked; nothing is then known about the signature.
     */
    readonly isSignedByOwner: (withdrawal: AuthorizedWithdrawal) => Effect.Effect<boolean, VerifierUnavailable>
    /**
     * What carries out a withdrawal that its owner signed: a transaction that makes the account, where it has no code
     * yet, and the withdrawal itself.
     */
    readonly selfSubmission: (withdrawal: AuthorizedWithdrawal) => {
      readonly deploy: SelfSubmission
      readonly withdraw: SelfSubmission
    }
  }
>()("ballast/domain/withdrawal/WithdrawalVerifier") {}
