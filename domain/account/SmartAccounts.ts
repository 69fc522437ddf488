/** Port: smart accounts that an owner controls and an agent may operate within limits enforced on chain. */
import { Context, type Effect } from "effect"
import type { AssetId, ChainId, AccountId, WalletId } from "#domain/values/Caip.ts"
import type { AccountType, Authorization } from "#domain/account/Authorization.ts"
import type { GuardTerms } from "#domain/account/Permission.ts"
import type { OwnerDigest } from "#domain/account/OwnerMessage.ts"
import type { VerifierUnavailable } from "#domain/errors/Errors.ts"

export interface AuthorizationRequest {
  readonly accountType: AccountType
  readonly ownerAccountId: WalletId
  readonly accountIndex: bigint
  readonly withdrawalDomainName: string | null
  /** The chains, and on each the assets that the agent may buy. `ERC1271` has exactly one. */
  readonly chains: ReadonlyArray<{
    readonly chainId: ChainId
    readonly assets: ReadonlyArray<AssetId>
    /** What `enableNonce` answered, where the account may be in use already. */
    readonly enableNonce?: number
    /** Counts where the chain has a guard. */
    readonly terms?: GuardTerms | undefined
  }>
}

/**
 * Accounts of owners, and what owners sign for them.
 *
 * **When to use**
 *
 * Use at both stages of an enrollment, an added chain or a renewal. Sub-accounts in wallets on Solana are
 * `SolanaWallets`.
 *
 * **Details**
 *
 * `VerifierUnavailable`: a chain could not be read; the signature may be good or not.
 */
export class SmartAccounts extends Context.Service<
  SmartAccounts,
  {
    /**
     * Computes accounts, permission and digests for a new enrollment without a call to a chain: the address follows
     * from owner, index and what the account is made with, and is the same on every chain. Permission ids are drawn
     * anew at each call.
     */
    readonly authorize: (request: AuthorizationRequest) => Effect.Effect<Authorization>
    /**
     * The number that the owner's next authorization of this account must have; it rises when the owner makes
     * earlier ones void.
     */
    readonly enableNonce: (accountId: AccountId) => Effect.Effect<number, VerifierUnavailable>
    /** True when the owner is a contract on the chain; one that is yet to be deployed is none. */
    readonly isContract: (owner: WalletId, chainId: ChainId) => Effect.Effect<boolean, VerifierUnavailable>
    /**
     * True when `signature` is the owner's over the message of an authorization or a revocation (OwnerMessage.ts). For
     * a contract its chain is called; a contract that does not answer by ERC-1271 has not signed.
     */
    readonly isSignedByOwner: (digest: OwnerDigest, signature: string) => Effect.Effect<boolean, VerifierUnavailable>
    /**
     * True when `signature` is the owner's key's over a text as people read it (EIP-191), which permits nothing: for
     * saying what was signed in place of a digest. Asks no chain.
     */
    readonly isTextSignedByOwner: (owner: WalletId, text: string, signature: string) => Effect.Effect<boolean>
  }
>()("ballast/domain/account/SmartAccounts") {}
