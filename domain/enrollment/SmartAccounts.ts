/** Port: smart accounts that an owner controls and an agent may operate within limits enforced on chain. */
import { Context, type Effect } from "effect"
import type { ChainId, EvmAddress, EvmWalletId } from "#domain/Caip.ts"
import type { Authorization } from "#domain/enrollment/Authorization.ts"

export interface AuthorizationRequest {
  readonly ownerAccountId: EvmWalletId
  readonly accountIndex: bigint
  /** The chains, and on each the tokens that the agent may swap into. */
  readonly chains: ReadonlyArray<{ readonly chainId: ChainId; readonly tokens: ReadonlyArray<EvmAddress> }>
}

export class SmartAccounts extends Context.Service<
  SmartAccounts,
  {
    /**
     * Computes accounts, permission and digests for a new enrollment without asking any chain: the address follows
     * from owner and index, and is the same on every chain. Permission ids are drawn anew at each call.
     */
    readonly authorize: (request: AuthorizationRequest) => Effect.Effect<Authorization>
    /** True when `signature` is the owner's EIP-191 signature over the 32 bytes of the root. */
    readonly isSignedByOwner: (authorization: Authorization, signature: string) => Effect.Effect<boolean>
  }
>()("ballast/domain/enrollment/SmartAccounts") {}
