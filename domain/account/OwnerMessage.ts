/**
 * What an owner signs, by kind of owner. Source: interface "enroll/signature".
 *
 * A key signs 32 bytes that cover every chain. A contract signs for one account on one chain, in the account's own
 * EIP-712 domain, which is what its validator checks on chain (contracts/Erc1271OwnerValidator.sol).
 */
import { addressOf, type ChainId, type AccountId } from "#domain/Caip.ts"
import type { Authorization } from "#domain/account/Authorization.ts"

/** 32 bytes that an owner signs, for the accounts that they are about. */
export interface OwnerDigest extends Pick<Authorization, "accountType" | "ownerAccountId" | "root"> {
  readonly chains: readonly [
    { readonly chainId: ChainId; readonly accountId: AccountId },
    ...ReadonlyArray<{ readonly chainId: ChainId; readonly accountId: AccountId }>
  ]
}

export interface EcdsaMessage {
  readonly kind: "ecdsa"
  /** 32 bytes in hex, signed with EIP-191. */
  readonly raw: string
}

export interface TypedDataMessage {
  readonly kind: "typed-data"
  readonly typedData: {
    readonly domain: {
      readonly name: "Kernel"
      readonly version: "0.3.1"
      readonly chainId: ChainId
      /** The portfolio's account. */
      readonly verifyingContract: string
    }
    readonly types: { readonly Kernel: readonly [{ readonly name: "hash"; readonly type: "bytes32" }] }
    readonly primaryType: "Kernel"
    readonly message: { readonly hash: string }
  }
}

export type OwnerMessage = EcdsaMessage | TypedDataMessage

/** Bytes of a signature at most; owners that are contracts may need many keys' signatures in one. */
export const maxSignatureBytes = 4_096

const kernelTypes = { Kernel: [{ name: "hash", type: "bytes32" }] } as const

/** A contract signs a hash on one chain, the only one that it is about. */
export const typedDataMessage = ({
  chains: [chain],
  root
}: Pick<OwnerDigest, "chains" | "root">): TypedDataMessage => ({
  kind: "typed-data",
  typedData: {
    domain: {
      name: "Kernel",
      version: "0.3.1",
      chainId: chain.chainId,
      verifyingContract: addressOf(chain.accountId)
    },
    types: kernelTypes,
    primaryType: "Kernel",
    message: { hash: root }
  }
})

export const ownerMessage = (digest: OwnerDigest): OwnerMessage =>
  digest.accountType === "ERC1271" ? typedDataMessage(digest) : { kind: "ecdsa", raw: digest.root }
