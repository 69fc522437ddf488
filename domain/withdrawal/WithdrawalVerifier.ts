/**
 * Port: whether a withdrawal was signed by the portfolio's owner, whether its recipient can use what arrives, and how
 * it is carried out without this service.
 */
import { Context, type Effect, type Option } from "effect"
import type { AccountId, EvmAddress } from "#domain/values/Caip.ts"
import type { VerifierUnavailable } from "#domain/errors/Errors.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"

/** A transaction that any account may send. */
export interface SelfSubmission {
  readonly to: EvmAddress
  readonly data: string
}

/**
 * Whether an owner signed a withdrawal, and whether its recipient can use what arrives.
 *
 * **When to use**
 *
 * Use at both stages of a withdrawal. Signatures over permissions are verified by `SmartAccounts`.
 */
export class WithdrawalVerifier extends Context.Service<
  WithdrawalVerifier,
  {
    /**
     * Rebuilds what is signed and checks the signature over it: of a wallet by recovery, of a Solana key by ed25519, of
     * a contract by a call on the account's chain (ERC-1271). Fails when that chain cannot be read; nothing is then
     * known about the signature.
     */
    readonly isSignedByOwner: (withdrawal: AuthorizedWithdrawal) => Effect.Effect<boolean, VerifierUnavailable>
    /**
     * Why an account on its chain would lose what it receives, as the end of a sentence about it; none where nothing is
     * known against it.
     */
    readonly recipientProblem: (recipient: AccountId) => Effect.Effect<Option.Option<string>, VerifierUnavailable>
    /** A nonce for a message about the native coin of the account's chain, from 32 drawn bytes. */
    readonly nativeNonce: (accountId: AccountId, drawn: Uint8Array) => Effect.Effect<string, VerifierUnavailable>
    /** The 32 bytes that the owner signs where the message is about the native coin; none where it is about tokens. */
    readonly nativeDigest: (withdrawal: Omit<AuthorizedWithdrawal, "signature">) => Option.Option<string>
    /**
     * What carries out a withdrawal that its owner signed: a transaction that makes the account, where it has no code
     * yet, and the withdrawal itself. None on a chain that does not check the owner's signature: there the owner acts
     * with the key of the account's root.
     */
    readonly selfSubmission: (
      withdrawal: AuthorizedWithdrawal
    ) => Option.Option<{ readonly deploy: SelfSubmission; readonly withdraw: SelfSubmission }>
  }
>()("ballast/domain/withdrawal/WithdrawalVerifier") {}
