/**
 * Port: sub-accounts of portfolios in the wallets that owners have on Solana. Stage 1 issues what makes a sub-account,
 * the owner signs, and one transaction puts it on the chain: the agent's role and its sub-account, which is the
 * portfolio's account, and the wallet before them where it is new. Source: interface "enroll/signature", rules 5 and 6.
 */
import { Context, type Effect, Schema } from "effect"
import { SolanaAccountId, type WalletId } from "#domain/values/Caip.ts"
import type { Authorization } from "#domain/account/Authorization.ts"
import type { ValidationFailed, VerifierUnavailable } from "#domain/errors/Errors.ts"
import type { TenantId } from "#domain/values/Ids.ts"

/** Message of an owner with a Solana key, who signs the transaction; the text says what it does. */
const SolanaMessage = Schema.Struct({ kind: Schema.Literal("solana-message"), text: Schema.String })

/** Message of an owner with an EVM wallet, who signs such a text at a slot of the owner's own; `raw` is an example. */
const RoleMessage = Schema.Struct({ kind: Schema.Literal("ecdsa"), raw: Schema.String })

/** What stage 1 issued beside the authorization; stored with the flow. */
export const IssuedSubAccount = Schema.Struct({
  message: Schema.Union([SolanaMessage, RoleMessage]),
  walletAccountId: SolanaAccountId,
  /** The wallet is on the chain already. */
  isReused: Schema.Boolean,
  /** What the signature of an EVM wallet must count; null where the owner signs the transaction. */
  odometer: Schema.NullOr(Schema.Int),
  /** Base64 of what an owner with a Solana key signs, all signatures empty; null for the others. */
  transaction: Schema.NullOr(Schema.String),
  /** What the adapter needs at stage 2. It alone reads it. */
  plan: Schema.String
})
export type IssuedSubAccount = typeof IssuedSubAccount.Type

/** What stage 2 has of the owner, by the kind of the owner's key. */
export type SolanaConsent =
  /** Base64 of the issued transaction with the owner's signature. */
  | { readonly _tag: "SignedTransaction"; readonly transaction: string }
  | {
      readonly _tag: "SlotSignature"
      readonly userSecp256k1PublicKey: string
      readonly signature: string
      readonly currentSlot: bigint
    }

/** A signed transaction, which nothing sends: it is to be written down first. Its adapter alone makes and reads it. */
export const SignedSubAccount = Schema.String.pipe(Schema.brand("SignedSubAccount"))
export type SignedSubAccount = typeof SignedSubAccount.Type

/** A slot that is stored, so its text may be sent. The journal alone makes it. */
export const RecordedSubAccount = Schema.String.pipe(Schema.brand("RecordedSubAccount"))
export type RecordedSubAccount = typeof RecordedSubAccount.Type

export type SubAccountOutcome =
  | { readonly _tag: "Landed" }
  /** A block holds it, and it had no effect. */
  | { readonly _tag: "Failed"; readonly reason: string }
  /** No block holds it, and none will. */
  | { readonly _tag: "Expired" }
  | { readonly _tag: "Pending" }

export interface SubAccountRequest {
  readonly tenantId: TenantId
  readonly ownerAccountId: WalletId
  readonly withdrawalDomainName: string
}

/**
 * Sub-accounts of portfolios in the wallets that owners have on Solana.
 *
 * **When to use**
 *
 * Use where an enrollment names Solana, and `sign`, `outcome` and `land` in `makeSubAccount` alone. `SubAccountJournal`
 * makes of what `sign` answers what `land` sends, so nothing is sent that is not written down.
 *
 * **Details**
 *
 * `ValidationFailed` is final: the owner has to sign anew. `VerifierUnavailable` may be tried again.
 */
export class SolanaWallets extends Context.Service<
  SolanaWallets,
  {
    /** Stage 1. Nothing is signed or sent. */
    readonly issue: (
      request: SubAccountRequest
    ) => Effect.Effect<
      { readonly authorization: Authorization; readonly subAccount: IssuedSubAccount },
      ValidationFailed | VerifierUnavailable
    >
    /**
     * Stage 2: the transaction with all its signatures, the agent's last. Refuses what the owner did not sign, what is
     * too old, and what the wallet no longer allows. Nothing is sent.
     */
    readonly sign: (
      authorization: Authorization,
      subAccount: IssuedSubAccount,
      consent: SolanaConsent
    ) => Effect.Effect<SignedSubAccount, ValidationFailed | VerifierUnavailable>
    /** What has become of it. */
    readonly outcome: (subAccount: RecordedSubAccount) => Effect.Effect<SubAccountOutcome, VerifierUnavailable>
    /** Sends the same bytes until the chain has decided, for some seconds at most. */
    readonly land: (subAccount: RecordedSubAccount) => Effect.Effect<SubAccountOutcome, VerifierUnavailable>
  }
>()("ballast/domain/account/SolanaWallets") {}
