/**
 * Flows of two stages: stage 1 begins one, stage 2 carries it out at most once, whatever is sent how often.
 * Source: interface "Enrollment flow" and "enroll", shapes 2.16; docs/decisions/0008-enrollment-idempotency.md.
 */
import { DateTime, Effect, Option } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import type { EnrollmentFlow, EnrollmentOutcome, FlowPurpose, Refused } from "#domain/enrollment/Enrollment.ts"
import { type ClaimRequest, EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import {
  PortfolioExists,
  ReplayInProgress,
  ReplayMismatch,
  ValidationFailed,
  type VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { underClaim } from "#domain/effects/underClaim.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { type FlowId, makeFlowId } from "#domain/values/Ids.ts"
import { unknownStrategy } from "#domain/strategy/requireEnrollable.ts"

const flowLife = { hours: 24 }
const claimLease = { seconds: 30 }

export type FlowError = ValidationFailed | ReplayInProgress | ReplayMismatch | PortfolioExists | VerifierUnavailable

/** What stage 1 issues. */
type IssuedAuthorization = Pick<EnrollmentFlow, "purpose" | "strategyId" | "authorization" | "subAccount">

/** The request of stage 2. */
export interface Stage2Request<Outcome, Refusal = never> {
  readonly flowId: FlowId
  readonly purpose: FlowPurpose
  /** Bytes that are equal exactly when two requests mean the same. */
  readonly body: Uint8Array
  /** Fields that did not come back as stage 1 issued them, each as `field: reason`. */
  readonly mismatches: (flow: EnrollmentFlow) => ReadonlyArray<string>
  /** Called by one caller at a time. It stores what it answers, except a refusal; a failure leaves the flow open. */
  readonly execute: (
    flow: EnrollmentFlow
  ) => Effect.Effect<Outcome | Refused, ValidationFailed | VerifierUnavailable | Refusal, Caller>
}

const isSamePurpose = (one: FlowPurpose, other: FlowPurpose) =>
  one._tag === "Enroll" || other._tag === "Enroll"
    ? one._tag === other._tag
    : one._tag === other._tag && one.portfolioId === other.portfolioId

const stageOne = (purpose: FlowPurpose) => {
  if (purpose._tag === "Enroll") return "/v2/enroll/signature"
  const route = purpose._tag === "Activate" ? "chains" : "resign"
  return `/v2/portfolios/${purpose.portfolioId}/${route}/signature`
}

const unusable = (purpose: FlowPurpose, reason: string) =>
  new ValidationFailed({
    message: `The flow is unknown, older than 24 hours or of another purpose; start again at ${stageOne(purpose)}`,
    details: [`flowId: ${reason}`]
  })

/** A refusal that was stored, as the error that it is. */
const toError = ({ details, error, message }: Refused) =>
  error === "PortfolioExists" ? new PortfolioExists({ message }) : new ValidationFailed({ message, details })

export const makeFlows = Effect.gen(function* () {
  const store = yield* EnrollmentStore
  const digest = yield* Digest.Digest
  const random = yield* SecureRandom.SecureRandom

  const begin = Effect.fn("Flows.begin")(function* (issued: IssuedAuthorization) {
    const { tenantId } = yield* Caller
    const createdAt = yield* DateTime.now
    const flow: EnrollmentFlow = {
      flowId: yield* Effect.provideService(makeFlowId, SecureRandom.SecureRandom, random),
      tenantId,
      ...issued,
      createdAt,
      expiresAt: DateTime.add(createdAt, flowLife)
    }
    if (!(yield* store.insertFlow(flow))) return yield* unknownStrategy(issued.strategyId)
    return flow
  })

  const requireFlow = Effect.fnUntraced(function* ({
    flowId,
    purpose
  }: Pick<Stage2Request<unknown, unknown>, "flowId" | "purpose">) {
    const { tenantId } = yield* Caller
    const flow = yield* store.findFlow(tenantId, flowId)
    const now = yield* DateTime.now
    if (Option.isNone(flow) || DateTime.isLessThanOrEqualTo(flow.value.expiresAt, now)) {
      return yield* unusable(purpose, "unknown or expired")
    }
    if (!isSamePurpose(flow.value.purpose, purpose)) return yield* unusable(purpose, "issued for another purpose")
    return flow.value
  })

  const executeClaimed = Effect.fnUntraced(function* <Outcome extends EnrollmentOutcome, Refusal>(
    flow: EnrollmentFlow,
    { execute, mismatches }: Stage2Request<Outcome, Refusal>
  ): Effect.fn.Return<Outcome, FlowError | Refusal, Caller> {
    const details = mismatches(flow)
    if (details.length > 0) {
      return yield* new ValidationFailed({ message: "Send back the values of stage 1 unchanged", details })
    }
    const outcome = yield* execute(flow)
    if (outcome._tag !== "Refused") return outcome as Outcome
    yield* store.storeOutcome(flow.flowId, outcome)
    return yield* toError(outcome)
  })

  const resume = Effect.fn("Flows.resume")(function* <Outcome extends EnrollmentOutcome, Refusal = never>(
    request: Stage2Request<Outcome, Refusal>
  ): Effect.fn.Return<Outcome, FlowError | Refusal, Caller> {
    const { purpose } = request
    const flow = yield* requireFlow(request)
    const now = yield* DateTime.now
    const held: ClaimRequest = {
      flowId: flow.flowId,
      requestHash: yield* digest.digest(Digest.sha256, request.body),
      now,
      leaseUntil: DateTime.add(now, claimLease)
    }
    // Only a claim without an outcome is given up; one with an outcome stays as it is.
    const underFlow = underClaim({ claim: store.claim(held), release: store.release(held) })
    return yield* underFlow((claim) => {
      switch (claim._tag) {
        case "Replayed":
          // A flow of one purpose is answered in one way, so what was stored is an outcome of this kind.
          return claim.outcome._tag === "Refused"
            ? Effect.fail(toError(claim.outcome))
            : Effect.succeed(claim.outcome as Outcome)
        case "Mismatch":
          return Effect.fail(
            new ReplayMismatch({
              message: `This flowId was used with another body; start again at ${stageOne(purpose)}`
            })
          )
        case "InProgress":
          return Effect.fail(new ReplayInProgress({ message: "This request is still in progress; retry in 2 seconds" }))
        case "Claimed":
          return executeClaimed(flow, request)
      }
    })
  })

  return { begin, resume }
})
