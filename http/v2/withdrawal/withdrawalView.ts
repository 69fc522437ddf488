/** Views of both stages of a withdrawal in v2. Source: shapes 2.22 and 2.23. */
import { DateTime } from "effect"
import { Hex } from "effect/encoding"
import type { WithdrawalAuthorization } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import type { AcceptedWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"

const signedView = (issued: WithdrawalAuthorization) => {
  switch (issued.kind) {
    case "typed-data":
      return { typedData: issued.typedData }
    case "text":
      return { authorization: { kind: "solana-message" as const, text: issued.text, message: issued.message } }
    case "personal-sign": {
      const raw = `0x${Hex.encode(new TextEncoder().encode(issued.text))}`
      return { authorization: { kind: "ecdsa" as const, raw, message: issued.message } }
    }
    case "operation":
      return { operation: { accountId: issued.accountId, signed: issued.signed, message: issued.message } }
  }
}

/** The answer of stage 1. */
export const authorizationView = (issued: WithdrawalAuthorization) => ({
  authorizationId: issued.authorizationId,
  expiresAt: DateTime.formatIso(issued.expiresAt),
  ...signedView(issued)
})

/** The answer of stage 2. */
export const acceptedView = ({ operationId, submittedAt }: AcceptedWithdrawal) => ({
  operationId,
  submittedAt: DateTime.formatIso(submittedAt)
})
