/**
 * Whether an owner signed a text: a Solana key signs it in one of its forms with ed25519 and writes the signature in
 * base58; an EVM wallet signs its UTF-8 bytes with `personal_sign` (EIP-191).
 */
import { PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import { hashMessage, isHex, recoverAddress } from "viem"
import * as Base58 from "#domain/values/Base58.ts"
import { addressOf, type EvmAddress, namespaceOf, type WalletId } from "#domain/values/Caip.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import type { WalletOwner } from "#layers/solana/enrollment/findWallet.ts"
import { signedForms } from "#layers/solana/withdrawal/signedForms.ts"

/** The holder of the root of the owner's wallet. */
export const walletOwner = (owner: WalletId): WalletOwner =>
  namespaceOf(owner) === "solana"
    ? { _tag: "Solana", key: new PublicKey(addressOf(owner)) }
    : { _tag: "Evm", address: addressOf(owner) as EvmAddress }

const base58Length = 90
const hexLength = 132

export const isSignedByOwner = Effect.fnUntraced(function* (owner: WalletOwner, text: string, signature: string) {
  if (owner._tag === "Solana") {
    const bytes = signature.length <= base58Length ? Base58.decode(signature) : undefined
    if (bytes?.length !== 64) return false
    const key = owner.key.toBytes()
    return signedForms(text, key).some((form) => Ed25519.verify(key, form, bytes))
  }
  if (!isHex(signature) || signature.length !== hexLength) return false
  const signer = yield* Effect.promise(() =>
    recoverAddress({ hash: hashMessage(text), signature }).catch(() => undefined)
  )
  return signer === owner.address
})
