/** Port: who signed a sign-in message. */
import { Context, type Effect } from "effect"
import type { VerifierUnavailable } from "#domain/errors/Errors.ts"
import type { SignInMessage } from "#domain/identity/siwe/SignInMessage.ts"
import type { SignInWalletId } from "#domain/identity/User.ts"

/**
 * Verifies signatures over sign-in messages.
 *
 * **When to use**
 *
 * Use in `SignIns` alone. Signatures over authorizations are verified by `SmartAccounts`.
 */
export class SignInVerifier extends Context.Service<
  SignInVerifier,
  {
    /**
     * The signer of the text: the key of the address, or the contract there on the message's chain, deployed (ERC-1271)
     * or yet to be (ERC-6492). Undefined when neither signed.
     */
    readonly signerOf: (
      message: SignInMessage,
      text: string,
      signature: string
    ) => Effect.Effect<SignInWalletId | undefined, VerifierUnavailable>
  }
>()("ballast/domain/identity/SignInVerifier") {}
