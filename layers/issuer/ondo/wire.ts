/**
 * Shapes of Ondo Global Markets, as far as they are read: `POST /v1/attestations/soft`, `POST /v1/attestations`, and
 * errors. Source: docs.ondo.finance, "Request a Soft Attestation Quote", "Request a Mint or Redeem Attestation", "Error
 * Codes".
 */
import { Schema } from "effect"

const Text = Schema.String.check(Schema.isMaxLength(256))
const Digits = Schema.String.check(Schema.isPattern(/^[0-9]{1,78}$/u))

/** `0` buys, `1` sells. Amounts and prices have 18 decimals; a price is US dollars for a whole token. */
const quoted = {
  chainId: Text,
  symbol: Text,
  assetAddress: Text,
  side: Schema.Literals(["0", "1"]),
  tokenAmount: Digits,
  price: Digits
}

export const OndoQuote = Schema.Struct(quoted)
export type OndoQuote = typeof OndoQuote.Type

/** `signature` is base64 of 65 bytes; `additionalData` is empty, or 32 bytes in hex. */
export const OndoAttestation = Schema.Struct({
  ...quoted,
  attestationId: Digits,
  userId: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u)),
  /** Seconds since 1970. */
  expiration: Schema.Int.check(Schema.isGreaterThan(0)),
  signature: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]{87}=$/u)),
  additionalData: Schema.String.check(Schema.isPattern(/^(?:0x(?:[0-9a-fA-F]{64})?)?$/u))
})
export type OndoAttestation = typeof OndoAttestation.Type

/** The body of an error: `MARKET_CLOSED`, `ASSET_PAUSED`, and such. */
export const OndoRefusal = Schema.Struct({ code: Text, message: Schema.String.check(Schema.isMaxLength(2_048)) })
export type OndoRefusal = typeof OndoRefusal.Type

/** Statuses of errors that have such a body. */
export const refusalStatuses = [400, 403, 404, 422]
