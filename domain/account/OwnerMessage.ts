/**
 * What an owner signs, by kind of owner. Source: interface "enroll/signature".
 *
 * A key signs 32 bytes that cover every chain. A contract signs for one account on one chain, in the account's own
 * EIP-712 domain, which is what its validator checks on chain (contracts/Erc1271OwnerValidator.sol).
 */
import { addressOf, type ChainId, type AccountId } from "#domain/values/Caip.ts"
import type { AccountType, Authorization } from "#domain/account/Authorization.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"

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

/** 65 bytes in hex with 0x. */
const keySignatureLength = 132

/** What a key's signature must be where this is none by its length; those of contracts have any. */
export const formExpected = (accountType: AccountType, signature: string): string | undefined =>
  accountType === "ERC1271" || signature.length === keySignatureLength ? undefined : "65 bytes in hex with 0x"

/** Brings a signature into the spelling in which signatures are compared: hex has two spellings, base58 one. */
export const canonicalSignature = (signature: string): string =>
  signature.startsWith("0x") ? signature.toLowerCase() : signature

/** The refusal of a signature that is not the owner's. Nothing is stored: the flow stays open for the right one. */
export const signatureRefused = (accountType: AccountType): ValidationFailed =>
  new ValidationFailed(
    accountType === "ERC1271"
      ? {
          message:
            "The owner's contract does not accept the signature; sign message.typedData of stage 1 with EIP-712 and send it again",
          details: ["signature: refused by isValidSignature of ownerAccountId"]
        }
      : {
          message:
            "The signature is not the owner's; sign the raw 32 bytes of stage 1 with EIP-191 and send them again",
          details: ["signature: does not recover to ownerAccountId"]
        }
  )
