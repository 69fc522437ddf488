/**
 * What the owner of a portfolio on Solana signs to take assets out: lines of UTF-8 text. A message is read by Schema
 * before it is written here, and none of its values holds a space or a line's end; so a text is that of one message
 * alone. Source: shapes 2.22 and AE.
 */
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"

/** `title` is the name that the owner's grant fixed, which on EVM chains is that of the EIP-712 domain. */
export const withdrawalText = (title: string, message: WithdrawalMessage): string =>
  [
    title,
    `portfolioId: ${message.portfolioId}`,
    `recipientAccountId: ${message.recipientAccountId}`,
    ...message.assets.map(({ amountRaw, assetId }) => `${assetId} ${amountRaw}`),
    `nonce: ${message.nonce}`,
    `expiresAt: ${message.expiresAt}`
  ].join("\n")
