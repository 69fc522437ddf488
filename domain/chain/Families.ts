/**
 * Port: what rules ask of a family of chains, instead of which one it is: how its owners sign, what they are not
 * offered, and what one transaction of it includes. Each family's adapter has the terms of its own
 * (docs/decisions/0288-terms-of-families.md).
 */
import { Context, Result } from "effect"
import type { Address, Namespace } from "#domain/values/Caip.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"

/**
 * What some families do not have: owners that are contracts, terms of a guard, permissions that are signed anew, and
 * permissions that end by a signature.
 */
export type FamilyOffer = "contractOwner" | "guardTerms" | "renewal" | "revocation"

/** Why it is not offered, as the caller reads it. */
export interface NotOffered {
  readonly message: string
  readonly details: ReadonlyArray<string>
}

export interface FamilyTerms {
  /** Its chains within a sentence, as in "the portfolio is on EVM chains". */
  readonly chains: string
  readonly notOffered: Readonly<Partial<Record<FamilyOffer, NotOffered>>>
  /**
   * What the owner agrees to at enrollment: permissions of accounts, by one signature, or a sub-account in the owner's
   * wallet, which a transaction makes.
   */
  readonly enrollment: "permissions" | "sub_account"
  /** The form in which the owner of an account signs a withdrawal. */
  readonly withdrawalForm: "typed-data" | "text"
  /** How a key of the family signs a text: its bytes alone, or as `personal_sign` of EVM wallets does. */
  readonly textSigning: "text" | "personal-sign"
  /**
   * Whether a withdrawal and sales before it are one transaction, so that what the owner signed happens whole or not at
   * all.
   */
  readonly sellsWithinWithdrawal: boolean
  /**
   * Whether its venue reads all of its pools, so that a pair without a quote has no market. False where a provider
   * quotes, whose silence is no answer.
   */
  readonly quotesAllPools: boolean
  /** Assets of one withdrawal at most; null where all of one message fit. */
  readonly maxWithdrawnAssets: number | null
  /**
   * How long before the expiry of an authorization nothing is signed any more, in seconds: zero where the chain itself
   * refuses what has expired.
   */
  readonly landingSeconds: number
  /**
   * Why an address can only lose what it receives, on whatever chain of the family, as the end of a sentence about it;
   * undefined where its spelling alone says nothing against it.
   */
  readonly lossAt: (address: Address) => string | undefined
}

/**
 * The terms of every family of chains, by its namespace.
 *
 * **When to use**
 *
 * Use where a rule is not the same for all families: it asks for a term and names none of them. What an owner
 * authorized on a chain is asked of `domain/account/Permission.ts`.
 */
export class Families extends Context.Service<Families, Readonly<Record<Namespace, FamilyTerms>>>()(
  "ballast/domain/chain/Families"
) {}

/** Refuses what a family does not have. */
export const requireOffered = (
  { notOffered }: Pick<FamilyTerms, "notOffered">,
  offer: FamilyOffer
): Result.Result<void, ValidationFailed> => {
  const why = notOffered[offer]
  return why === undefined ? Result.succeed(undefined) : Result.fail(new ValidationFailed(why))
}
