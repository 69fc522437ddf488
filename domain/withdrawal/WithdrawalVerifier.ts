/** Port: whether a withdrawal was signed by the portfolio's owner. */
import { Context, type Effect } from "effect"
import type { VerifierUnavailable } from "#domain/Errors.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"

export class WithdrawalVerifier extends Context.Service<
  WithdrawalVerifier,
  {
    /**
     * Rebuilds the typed data and checks the signature over it: of a wallet by recovery, of a contract by asking it on the
     * account's chain (ERC-1271). Fails when that chain cannot be asked; nothing is then known about the signature.
     */
    readonly isSignedByOwner: (withdrawal: AuthorizedWithdrawal) => Effect.Effect<boolean, VerifierUnavailable>
  }
>()("ballast/domain/withdrawal/WithdrawalVerifier") {}
