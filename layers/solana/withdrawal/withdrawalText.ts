/**
 * What an owner of a Solana portfolio signs to take assets out: lines of text in UTF-8. A Solana key
 * signs the bytes with ed25519 and writes the signature in base58; an EVM wallet signs the same bytes with
 * `personal_sign`.
 */
import { PublicKey } from "@solana/web3.js"
import { Result, Schema } from "effect"
import { hashMessage, isHex, recoverAddress } from "viem"
import * as Base58 from "#domain/Base58.ts"
import { type SplAssetId, solanaReference } from "#domain/Caip.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import type { WalletOwner } from "#layers/solana/enrollment/findWallet.ts"

/** The message of stage 1, which stage 2 echoes. Every value is part of the text as it is spelled. */
export interface SolanaWithdrawal {
  readonly portfolioId: string
  /** CAIP-10 on Solana. */
  readonly recipientAccountId: string
  readonly assets: ReadonlyArray<{ readonly assetId: SplAssetId; readonly amountRaw: string }>
  readonly nonce: string
  /** Unix seconds. */
  readonly expiresAt: number
}

/** The owner did not sign the withdrawal. */
export class WithdrawalSignatureRefused extends Schema.TaggedError<WithdrawalSignatureRefused>()(
  "WithdrawalSignatureRefused",
  { message: Schema.String }
) {}

const isAmount = (value: string): boolean => /^[1-9][0-9]{0,19}$/u.test(value)

/** A value that breaks a line would let one text stand for two messages. */
const isLine = (value: string): boolean => /^[\x21-\x7e]{1,256}$/u.test(value)

/** The text; undefined where a value cannot be written in one. */
export const withdrawalText = (
  brand: string,
  { assets, expiresAt, nonce, portfolioId, recipientAccountId }: SolanaWithdrawal
): string | undefined => {
  const lines = [portfolioId, recipientAccountId, ...assets.map(({ assetId }) => assetId), nonce, String(expiresAt)]
  if (!lines.every(isLine) || !assets.every(({ amountRaw }) => isAmount(amountRaw))) return undefined
  return [
    `${brand} Withdrawal Authorization`,
    `portfolioId: ${portfolioId}`,
    `recipientAccountId: ${recipientAccountId}`,
    ...assets.map(({ amountRaw, assetId }) => `${assetId} ${amountRaw}`),
    `nonce: ${nonce}`,
    `expiresAt: ${expiresAt}`
  ].join("\n")
}

const accountPrefix = `solana:${solanaReference}:`

/** The address in a CAIP-10 account of Solana; undefined for every other text. */
export const addressIn = (accountId: string): PublicKey | undefined => {
  const address = accountId.slice(accountPrefix.length)
  return accountId.startsWith(accountPrefix) && Base58.isBytes32(address) ? new PublicKey(address) : undefined
}

const refused = (message: string) => Result.fail(new WithdrawalSignatureRefused({ message }))

/** Whether the owner signed the text. */
export const verifyWithdrawal = async (
  owner: WalletOwner,
  text: string,
  signature: string
): Promise<Result.Result<void, WithdrawalSignatureRefused>> => {
  if (owner._tag === "Solana") {
    const bytes = signature.length <= 90 ? Base58.decode(signature) : undefined
    if (bytes?.length !== 64) return refused("Expected an ed25519 signature of 64 bytes in base58")
    return Ed25519.verify(owner.key.toBytes(), new TextEncoder().encode(text), bytes)
      ? Result.succeed(undefined)
      : refused("The signature is not the owner's over the text that was issued")
  }
  if (!isHex(signature) || signature.length !== 132) {
    return refused("Expected a personal_sign signature of 65 bytes in hexadecimal")
  }
  const signer = await recoverAddress({ hash: hashMessage(text), signature }).catch(() => undefined)
  return signer === owner.address
    ? Result.succeed(undefined)
    : refused("The signature is not the owner's over the text that was issued")
}
