/**
 * Identifiers that the service makes: ULIDs, which sort by time of creation, with a prefix that says of what.
 * Source: shapes section 2 ("Ids seen").
 */
import { DateTime, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"

const ulid = "[0-7][0-9A-HJKMNP-TV-Z]{25}"

const patternOf = (prefix: string) => new RegExp(`^${prefix}${ulid}$`, "u")

const id = (prefix: string) => Schema.String.check(Schema.isPattern(patternOf(prefix)))

export const portfolioIdPattern = patternOf("pf_")

export const TenantId = id("tn_").pipe(Schema.brand("TenantId"))
export type TenantId = typeof TenantId.Type

export const ApiKeyId = id("key_").pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const UserId = id("usr_").pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

export const SessionId = id("ses_").pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

export const StrategyId = id("").pipe(Schema.brand("StrategyId"))
export type StrategyId = typeof StrategyId.Type

export const PortfolioId = id("pf_").pipe(Schema.brand("PortfolioId"))
export type PortfolioId = typeof PortfolioId.Type

export const FlowId = id("flow_").pipe(Schema.brand("FlowId"))
export type FlowId = typeof FlowId.Type

/** A workflow that waits for a time, a trigger or an execution. */
export const WorkflowId = id("wf_").pipe(Schema.brand("WorkflowId"))
export type WorkflowId = typeof WorkflowId.Type

export const OperationId = id("op_").pipe(Schema.brand("OperationId"))
export type OperationId = typeof OperationId.Type

/** A price that an issuer named, as one was shown. */
export const IssuerQuoteId = id("iq_").pipe(Schema.brand("IssuerQuoteId"))
export type IssuerQuoteId = typeof IssuerQuoteId.Type

export const WebhookId = id("wh_").pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

export const DeliveryId = id("whd_").pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

/** Names one claim, so that a process that has lost it does not end another's. */
export const ClaimId = id("").pipe(Schema.brand("ClaimId"))
export type ClaimId = typeof ClaimId.Type

/** One drift check of due portfolios. */
export const CheckId = id("").pipe(Schema.brand("CheckId"))
export type CheckId = typeof CheckId.Type

const make = <Id extends string>(prefix: string) =>
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    return `${prefix}${yield* random.ulid}` as Id
  })

const base32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const timeDigits = 10

/** When an operation's id was made. */
export const madeAt = (operationId: OperationId): DateTime.Utc => {
  const digits = operationId.slice("op_".length, "op_".length + timeDigits)
  const millis = Array.from(digits).reduce((sum, digit) => sum * base32.length + base32.indexOf(digit), 0)
  return DateTime.makeUnsafe(millis)
}

export const makeTenantId = make<TenantId>("tn_")
export const makeApiKeyId = make<ApiKeyId>("key_")
export const makeUserId = make<UserId>("usr_")
export const makeSessionId = make<SessionId>("ses_")
export const makeStrategyId = make<StrategyId>("")
export const makePortfolioId = make<PortfolioId>("pf_")
export const makeFlowId = make<FlowId>("flow_")
export const makeWorkflowId = make<WorkflowId>("wf_")
export const makeOperationId = make<OperationId>("op_")
export const makeWebhookId = make<WebhookId>("wh_")
export const makeDeliveryId = make<DeliveryId>("whd_")
export const makeClaimId = make<ClaimId>("")
export const makeCheckId = make<CheckId>("")
export const makeIssuerQuoteId = make<IssuerQuoteId>("iq_")
