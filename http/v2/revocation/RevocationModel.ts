/** The two stages of a revocation on the wire. */
import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import { AccountType } from "#domain/account/Authorization.ts"
import type { FlowId } from "#domain/values/Ids.ts"
import { chainIds, OwnerSignature } from "#http/v2/enrollment/EnrollmentModel.ts"
import { OwnerMessage } from "#http/v2/enrollment/OwnerMessageModel.ts"
import { SmartAccount } from "#http/portfolio/PortfolioModel.ts"
import { FlowIdParam, timestamp } from "#http/values/values.ts"

/** The body of stage 1. */
export const RevocationDraft = Schema.Struct({
  chainIds: Schema.optionalKey(
    chainIds.annotate({
      description: "Chains of the portfolio, none twice; when left out, all on which the agent is not revoked.",
      examples: [[ChainId.make(8453)]]
    })
  )
}).annotate({ identifier: "RevocationDraft", description: "Where the owner is to end the permissions." })

const flowId = FlowIdParam.annotate({
  description: "Id of the flow, valid 24 hours; the idempotency anchor of stage 2.",
  examples: ["flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9" as FlowId]
})

/** The answer of stage 1. */
export const RevocationIssued = Schema.Struct({
  message: OwnerMessage,
  accountType: AccountType.annotate({ description: "How the owner signs.", examples: ["ECDSA"] }),
  flowId,
  smartAccounts: Schema.Array(SmartAccount).annotate({ description: "The accounts that the message is about." }),
  expiresAt: timestamp("Time until which the flow may be used", "2026-03-03T09:30:00.000Z")
}).annotate({
  identifier: "RevocationIssued",
  description: "The message to sign, and the flow to send back at stage 2."
})

/** The body of stage 2. */
export const RevocationBody = Schema.Struct({
  flowId: FlowIdParam.annotate({ description: "Value that stage 1 answered." }),
  signature: OwnerSignature
}).annotate({ identifier: "RevocationBody", description: "The flow of stage 1 and the owner's signature." })
