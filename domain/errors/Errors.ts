/**
 * Every error that can leave the service, each with its one code and HTTP status. No other file has a code, but for
 * domain/errors/legacyCodes.ts, which renames these for the legacy routes.
 *
 * A message says what is wrong and what to do next; `details` name fields as `field: reason`. The meaning of each code
 * for reader, operator and support is in docs/errors.md. Source: interface "v2 codes", shapes 2.31.
 */
import { Schema } from "effect"

const fields = {
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(Schema.String))
}

/** What every class of this module contains besides its message. */
export interface ErrorContract {
  readonly code: `API_${string}`
  readonly status: number
  readonly meaning: string
  /** Seconds after which the request may be sent again, where every such answer says so. */
  readonly retryAfterSeconds?: number
}

/** 400: a cursor that this service did not issue for this list. */
export class CursorInvalid extends Schema.TaggedError<CursorInvalid>()("CursorInvalid", fields) {
  static readonly contract = {
    code: "API_002",
    status: 400,
    meaning: "The cursor is malformed or belongs to another list."
  } as const
}

/** 405: the path has other methods than this one. */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", fields) {
  static readonly contract = {
    code: "API_003",
    status: 405,
    meaning: "The path does not have this method; Allow lists those that it has."
  } as const
}

/** 429: more requests than the caller's limit allows. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...fields,
  retryAfterSeconds: Schema.Int
}) {
  static readonly contract = {
    code: "API_004",
    status: 429,
    meaning: "Too many requests; wait for the seconds in Retry-After."
  } as const
}

/** 404: nothing with that id is visible to the key. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", fields) {
  static readonly contract = {
    code: "API_006",
    status: 404,
    meaning: "The resource does not exist or the key cannot access it."
  } as const
}

/** 409: the same request is being carried out right now. */
export class ReplayInProgress extends Schema.TaggedError<ReplayInProgress>()("ReplayInProgress", fields) {
  static readonly contract = {
    code: "API_007",
    status: 409,
    meaning: "An identical request is still in progress; retry after a short wait.",
    retryAfterSeconds: 2
  } as const
}

/** 409: the idempotency anchor was used before with another body. */
export class ReplayMismatch extends Schema.TaggedError<ReplayMismatch>()("ReplayMismatch", fields) {
  static readonly contract = {
    code: "API_008",
    status: 409,
    meaning: "The idempotency anchor was already used with a different body."
  } as const
}

/** 401: no API key was sent. */
export class KeyMissing extends Schema.TaggedError<KeyMissing>()("KeyMissing", fields) {
  static readonly contract = { code: "API_101", status: 401, meaning: "The x-api-key header is missing." } as const
}

/** 401: the API key is unknown or revoked. */
export class KeyInvalid extends Schema.TaggedError<KeyInvalid>()("KeyInvalid", fields) {
  static readonly contract = { code: "API_102", status: 401, meaning: "The API key is not valid." } as const
}

/** 401: the API key is past its expiry. */
export class KeyExpired extends Schema.TaggedError<KeyExpired>()("KeyExpired", fields) {
  static readonly contract = { code: "API_103", status: 401, meaning: "The API key has expired." } as const
}

/** 403: the key lacks the scope of the route, or the tenant an entitlement. */
export class PermissionDenied extends Schema.TaggedError<PermissionDenied>()("PermissionDenied", fields) {
  static readonly contract = {
    code: "API_104",
    status: 403,
    meaning: "The key lacks the required scope, or the tenant the required entitlement."
  } as const
}

/** 401: no wallet session was sent, or it has ended. */
export class SessionInvalid extends Schema.TaggedError<SessionInvalid>()("SessionInvalid", fields) {
  static readonly contract = {
    code: "API_105",
    status: 401,
    meaning: "There is no wallet session, or it has ended; sign in again."
  } as const
}

/** 403: the tenant is disabled. */
export class TenantDisabled extends Schema.TaggedError<TenantDisabled>()("TenantDisabled", fields) {
  static readonly contract = { code: "API_106", status: 403, meaning: "The tenant is disabled." } as const
}

/** 401: a sign-in message, or the signature over it, is not accepted. */
export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", fields) {
  static readonly contract = {
    code: "API_107",
    status: 401,
    meaning: "The sign-in message or its signature is not accepted; ask for a new nonce and sign again."
  } as const
}

/** 404: a command named a portfolio that does not exist or is another tenant's. */
export class PortfolioNotFound extends Schema.TaggedError<PortfolioNotFound>()("PortfolioNotFound", fields) {
  static readonly contract = {
    code: "API_200",
    status: 404,
    meaning: "The portfolio does not exist or is not the tenant's."
  } as const
}

/** 409: the owner already has a portfolio in this strategy. */
export class PortfolioExists extends Schema.TaggedError<PortfolioExists>()("PortfolioExists", fields) {
  static readonly contract = {
    code: "API_202",
    status: 409,
    meaning: "A portfolio already exists for this strategy and owner."
  } as const
}

/** 409: a workflow sleeps until a time, and no event wakes it. */
export class WorkflowAsleep extends Schema.TaggedError<WorkflowAsleep>()("WorkflowAsleep", fields) {
  static readonly contract = {
    code: "API_301",
    status: 409,
    meaning: "The workflow sleeps until a time; there is no event wait to recover."
  } as const
}

/** 409: a run would not do now what was previewed. */
export class PlanChanged extends Schema.TaggedError<PlanChanged>()("PlanChanged", fields) {
  static readonly contract = {
    code: "API_203",
    status: 409,
    meaning: "The plan is not the previewed one any more; ask for a new preview."
  } as const
}

/** 409: another strategy or portfolio of the tenant has this external id. */
export class ExternalIdTaken extends Schema.TaggedError<ExternalIdTaken>()("ExternalIdTaken", fields) {
  static readonly contract = {
    code: "API_230",
    status: 409,
    meaning: "The external id is used by another one of the tenant; details name it."
  } as const
}

/** 409: an operation has ended, or all that it does was sent. */
export class OperationNotCancellable extends Schema.TaggedError<OperationNotCancellable>()(
  "OperationNotCancellable",
  fields
) {
  static readonly contract = {
    code: "API_204",
    status: 409,
    meaning: "It is too late to cancel the operation, or it is none that can be."
  } as const
}

/** 400: a withdrawal is for more than the account holds. */
export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>()("InsufficientBalance", fields) {
  static readonly contract = {
    code: "API_210",
    status: 400,
    meaning: "The balance does not cover the withdrawal."
  } as const
}

/** 400: the recipient of a withdrawal cannot be one. */
export class RecipientInvalid extends Schema.TaggedError<RecipientInvalid>()("RecipientInvalid", fields) {
  static readonly contract = {
    code: "API_211",
    status: 400,
    meaning: "The recipient is no account on a chain, is the source smart account, or could only lose what it gets."
  } as const
}

/** 400: a withdrawal names an asset twice. */
export class DuplicateAsset extends Schema.TaggedError<DuplicateAsset>()("DuplicateAsset", fields) {
  static readonly contract = {
    code: "API_212",
    status: 400,
    meaning: "The withdrawal names an asset more than once."
  } as const
}

/** 400: recipient and assets of a withdrawal are not on one chain. */
export class ChainMismatch extends Schema.TaggedError<ChainMismatch>()("ChainMismatch", fields) {
  static readonly contract = {
    code: "API_213",
    status: 400,
    meaning: "The recipient's chain is not the chain of every asset."
  } as const
}

/** 400: the signed message is about another portfolio than the path. */
export class PortfolioMismatch extends Schema.TaggedError<PortfolioMismatch>()("PortfolioMismatch", fields) {
  static readonly contract = {
    code: "API_214",
    status: 400,
    meaning: "The portfolio of the message is not the portfolio of the path."
  } as const
}

/** 400: the portfolio has no smart account on the recipient's chain. */
export class SmartAccountMissing extends Schema.TaggedError<SmartAccountMissing>()("SmartAccountMissing", fields) {
  static readonly contract = {
    code: "API_215",
    status: 400,
    meaning: "The portfolio has no smart account on the recipient's chain."
  } as const
}

/** 400: the withdrawal was authorized for a time that is over. */
export class AuthorizationExpired extends Schema.TaggedError<AuthorizationExpired>()("AuthorizationExpired", fields) {
  static readonly contract = {
    code: "API_216",
    status: 400,
    meaning: "The withdrawal authorization has expired; start again at stage 1."
  } as const
}

/** 400: the withdrawal is not signed by the portfolio's owner. */
export class SignatureInvalid extends Schema.TaggedError<SignatureInvalid>()("SignatureInvalid", fields) {
  static readonly contract = {
    code: "API_217",
    status: 400,
    meaning: "The withdrawal signature is not the portfolio owner's."
  } as const
}

/** 400: assets cannot be liquidated on this chain. */
export class SettlementUnsupported extends Schema.TaggedError<SettlementUnsupported>()(
  "SettlementUnsupported",
  fields
) {
  static readonly contract = {
    code: "API_219",
    status: 400,
    meaning: "The chain has no settlement asset to liquidate into."
  } as const
}

/** 400: there is nothing worth liquidating. */
export class NothingToLiquidate extends Schema.TaggedError<NothingToLiquidate>()("NothingToLiquidate", fields) {
  static readonly contract = {
    code: "API_220",
    status: 400,
    meaning: "The portfolio holds nothing on the chain that is worth liquidating."
  } as const
}

/** 400: in simulation the calls of a client fail. */
export class CallsRefused extends Schema.TaggedError<CallsRefused>()("CallsRefused", fields) {
  static readonly contract = {
    code: "API_221",
    status: 400,
    meaning: "The chain would refuse these calls; nothing was sent."
  } as const
}

/** 400: the request does not have the specified form or names something unknown. */
export class ValidationFailed extends Schema.TaggedError<ValidationFailed>()("ValidationFailed", fields) {
  static readonly contract = {
    code: "API_400",
    status: 400,
    meaning: "The request is not valid; details name each field."
  } as const
}

/** 413: the body is larger than the service reads. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", fields) {
  static readonly contract = {
    code: "API_400",
    status: 413,
    meaning: "The request body is larger than 64 KiB."
  } as const
}

/** 503: the contract that verifies a signature could not be called. */
export class VerifierUnavailable extends Schema.TaggedError<VerifierUnavailable>()("VerifierUnavailable", fields) {
  static readonly contract = {
    code: "API_506",
    status: 503,
    meaning: "The signature verifier is temporarily unavailable; nothing was stored, retry.",
    retryAfterSeconds: 5
  } as const
}

/** 503: the price of an issuer of tokens could not be read. */
export class IssuerUnavailable extends Schema.TaggedError<IssuerUnavailable>()("IssuerUnavailable", fields) {
  static readonly contract = {
    code: "API_507",
    status: 503,
    meaning: "The issuer of the token does not answer now; nothing was stored, retry.",
    retryAfterSeconds: 5
  } as const
}

/** 503: the database does not answer or does not take writes, or the process starts or ends. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", fields) {
  static readonly contract = {
    code: "API_600",
    status: 503,
    meaning: "The service cannot answer right now; send the same request again.",
    retryAfterSeconds: 2
  } as const
}

/** 500: a fault of ours; its cause is in the log under the correlation id, never in the answer. */
export class Internal extends Schema.TaggedError<Internal>()("Internal", fields) {
  static readonly contract = {
    code: "API_600",
    status: 500,
    meaning: "Internal server error; quote X-Correlation-Id in a report."
  } as const
}
