/**
 * Identifiers that the service makes: ULIDs, which sort by time of creation, with a prefix that says of what.
 * Source: shapes 2.0.
 */
import { DateTime, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"

const ulid = "[0-7][0-9A-HJKMNP-TV-Z]{25}"

const patternOf = (prefix: string) => new RegExp(`^${prefix}${ulid}$`, "u")

/** `name` says of what, as messages have it: "a portfolio". `example` is one without the prefix. */
const id = (prefix: string, name: string, example: string) =>
  Schema.String.check(Schema.isPattern(patternOf(prefix))).annotate({
    examples: [`${prefix}${example}`],
    message: `Expected the id of ${name}, such as ${prefix}${example}`
  })

export const portfolioIdPattern = patternOf("pf_")

export const TenantId = id("tn_", "a tenant", "01JQ8ZG0B2D4F6H8J0K2M4N6P8").pipe(Schema.brand("TenantId"))
export type TenantId = typeof TenantId.Type

export const ApiKeyId = id("key_", "an API key", "01JQ8ZH1C3E5G7J9K1M3N5P7Q9").pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const UserId = id("usr_", "a user", "01JQ8ZJ2D4F6H8J0K2M4N6P8R0").pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

export const SessionId = id("ses_", "a session", "01JQ8ZJ3E5G7J9K1M3N5P7Q9S1").pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

export const StrategyId = id("", "a strategy", "01JQ8ZKX4V6T3M9N2C5B7D8F0G").pipe(Schema.brand("StrategyId"))
export type StrategyId = typeof StrategyId.Type

export const PortfolioId = id("pf_", "a portfolio", "01JQ8ZM0R2W4Y6A8C0E2G4J6K8").pipe(Schema.brand("PortfolioId"))
export type PortfolioId = typeof PortfolioId.Type

export const FlowId = id("flow_", "a flow", "01JQ8ZN1S3T5V7W9Y1A3C5E7G9").pipe(Schema.brand("FlowId"))
export type FlowId = typeof FlowId.Type

/** A workflow that waits for a time, a trigger or an execution. */
export const WorkflowId = id("wf_", "a workflow", "01JQ8ZN2T4V6W8Y0A2C4E6G8H0").pipe(Schema.brand("WorkflowId"))
export type WorkflowId = typeof WorkflowId.Type

export const OperationId = id("op_", "an operation", "01JQ8ZP3T5V7X9Z1B3D5F7H9K1").pipe(Schema.brand("OperationId"))
export type OperationId = typeof OperationId.Type

/** A price that an issuer named, as one was shown. */
export const IssuerQuoteId = id("iq_", "an issuer's quote", "01JQ8ZP4V6X8Z0B2D4F6H8J0K2").pipe(
  Schema.brand("IssuerQuoteId")
)
export type IssuerQuoteId = typeof IssuerQuoteId.Type

export const WebhookId = id("wh_", "a webhook", "01JQ8ZQ7A9C1E3G5J7K9M1N3P5").pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

export const DeliveryId = id("whd_", "a delivery", "01JQ8ZR8B0D2F4H6J8K0M2N4P6").pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

/** Names one claim, so that a process that has lost it does not end another's. */
export const ClaimId = id("", "a claim", "01JQ8ZS9C1E3G5J7K9M1N3P5Q7").pipe(Schema.brand("ClaimId"))
export type ClaimId = typeof ClaimId.Type

/** One drift check of due portfolios. */
export const CheckId = id("", "a drift check", "01JQ8ZT0D2F4H6J8K0M2N4P6R8").pipe(Schema.brand("CheckId"))
export type CheckId = typeof CheckId.Type

const make = <Id extends string>(prefix: string) =>
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    return `${prefix}${yield* random.ulid}` as Id
  })

const base32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const timeDigits = 10

/** Reads from an operation's id when it was made. */
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
