/** What makes two requests of stage 2 the same. */
import { canonicalSignature } from "#domain/account/OwnerMessage.ts"
import type { SignedWithdrawal } from "#domain/account/WithdrawalMessage.ts"

/** Bytes that are equal exactly when two requests mean the same. */
export const withdrawalRequestBytes = ({ message, signature }: SignedWithdrawal): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify([
      message.portfolioId,
      message.recipientAccountId,
      message.assets.map(({ amountRaw, assetId }) => [assetId, amountRaw]),
      message.nonce,
      message.expiresAt,
      message.liquidate === true,
      canonicalSignature(signature)
    ])
  )
