/**
 * Enrolls a user into a strategy with one signature: stage 1 fixes what will be authorized, stage 2 checks the owner's
 * signature and makes the portfolio. Source: interface "enroll/signature" and "enroll", shapes 2.15 and 2.16.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Assets } from "#domain/asset/Assets.ts"
import { addressOf, type AssetId, type ChainId, type EvmWalletId } from "#domain/Caip.ts"
import { Chains, requireSupported } from "#domain/chain/Chains.ts"
import type { Enrolled, EnrollmentFlow, Refused } from "#domain/enrollment/Enrollment.ts"
import { type ClaimRequest, EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { agentTokens } from "#domain/enrollment/agentTokens.ts"
import { type EnrollRequest, mismatchesOf, requestBytes } from "#domain/enrollment/EnrollRequest.ts"
import { SmartAccounts } from "#domain/enrollment/SmartAccounts.ts"
import { PortfolioExists, ReplayInProgress, ReplayMismatch, ValidationFailed } from "#domain/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { makeFlowId, makePortfolioId, type StrategyId } from "#domain/Ids.ts"
import { isAccessible } from "#domain/strategy/isAccessible.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

/** What stage 1 asks for. */
export interface AuthorizationDraft {
  readonly ownerAccountId: EvmWalletId
  readonly strategyId: StrategyId
  readonly chainIds: ReadonlyArray<number>
}

export type EnrollError = ValidationFailed | ReplayInProgress | ReplayMismatch | PortfolioExists

const flowLife = { hours: 24 }
const claimLease = { seconds: 30 }
const firstRebalanceDelay = { seconds: 5 }

const invalid = (message: string, ...details: ReadonlyArray<string>) => new ValidationFailed({ message, details })

export class Enrollments extends Context.Service<
  Enrollments,
  {
    readonly authorize: (draft: AuthorizationDraft) => Effect.Effect<EnrollmentFlow, ValidationFailed, Caller>
    readonly enroll: (request: EnrollRequest) => Effect.Effect<Enrolled, EnrollError, Caller>
  }
>()("ballast/domain/enrollment/Enrollments") {
  static readonly layer = Layer.effect(
    Enrollments,
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const strategies = yield* StrategyStore
      const assets = yield* Assets
      const accounts = yield* SmartAccounts
      const chains = yield* Chains
      const digest = yield* Digest.Digest
      const random = yield* SecureRandom.SecureRandom
      const draw = <A>(make: Effect.Effect<A, never, SecureRandom.SecureRandom>) =>
        Effect.provideService(make, SecureRandom.SecureRandom, random)

      const accessibleStrategy = Effect.fnUntraced(function* (strategyId: StrategyId) {
        const { tenantId } = yield* Caller
        const strategy = yield* strategies.find(strategyId)
        if (Option.isNone(strategy) || !isAccessible(strategy.value, tenantId)) {
          return yield* invalid(
            "The strategy does not exist or is not accessible",
            `strategyId: unknown strategy ${strategyId}`
          )
        }
        return strategy.value
      })

      const tokensOn = Effect.fnUntraced(function* (chainId: ChainId, strategy: Strategy) {
        const catalogue = yield* assets.onChain(chainId)
        return {
          chainId,
          tokens: agentTokens(chainId, strategy.allocation, catalogue).map((id: AssetId) => addressOf(id))
        }
      })

      const authorize = Effect.fn("Enrollments.authorize")(function* (draft: AuthorizationDraft) {
        const { tenantId } = yield* Caller
        const chainIds = yield* Effect.provideService(requireSupported(draft.chainIds), Chains, chains)
        const strategy = yield* accessibleStrategy(draft.strategyId)
        const authorization = yield* accounts.authorize({
          ownerAccountId: draft.ownerAccountId,
          accountIndex: yield* store.candidateIndex(draft.ownerAccountId),
          chains: yield* Effect.forEach(chainIds, (chainId) => tokensOn(chainId, strategy))
        })
        const createdAt = yield* DateTime.now
        const flow: EnrollmentFlow = {
          flowId: yield* draw(makeFlowId),
          tenantId,
          strategyId: strategy.strategyId,
          authorization,
          createdAt,
          expiresAt: DateTime.add(createdAt, flowLife)
        }
        yield* store.insertFlow(flow)
        return flow
      })

      /** The flow that the request continues, when it is alive and every field came back as it was issued. */
      const requireFlow = Effect.fnUntraced(function* (request: EnrollRequest) {
        const { tenantId } = yield* Caller
        const flow = yield* store.findFlow(tenantId, request.flowId)
        const now = yield* DateTime.now
        if (Option.isNone(flow) || DateTime.isLessThanOrEqualTo(flow.value.expiresAt, now)) {
          return yield* invalid(
            "The enrollment flow is unknown or older than 24 hours; start again at /v2/enroll/signature",
            "flowId: unknown or expired"
          )
        }
        return flow.value
      })

      const refuse = Effect.fnUntraced(function* (flow: EnrollmentFlow, refused: Refused) {
        yield* store.settle(flow.flowId, refused)
        return yield* toError(refused)
      })

      const commit = Effect.fnUntraced(function* (flow: EnrollmentFlow, request: EnrollRequest) {
        if (!(yield* accounts.isSignedByOwner(flow.authorization, request.signature))) {
          return yield* refuse(flow, signatureRefused)
        }
        const createdAt = yield* DateTime.now
        const outcome: Enrolled = {
          _tag: "Enrolled",
          portfolioId: yield* draw(makePortfolioId),
          portfolioName: request.portfolioName,
          strategyId: flow.strategyId,
          smartAccounts: flow.authorization.chains.map(({ accountId }) => accountId)
        }
        const result = yield* store.commit(
          {
            portfolioId: outcome.portfolioId,
            name: request.portfolioName,
            flow,
            ownerSignature: request.signature,
            dueAt: DateTime.add(createdAt, firstRebalanceDelay),
            createdAt
          },
          outcome
        )
        if (result === "Committed") return outcome
        return yield* refuse(flow, result === "PortfolioExists" ? existsRefused(flow) : indexRefused)
      })

      const enroll = Effect.fn("Enrollments.enroll")(function* (request: EnrollRequest) {
        const flow = yield* requireFlow(request)
        const now = yield* DateTime.now
        const held: ClaimRequest = {
          flowId: flow.flowId,
          requestHash: yield* digest.digest(Digest.sha256, requestBytes(request)),
          now,
          leaseUntil: DateTime.add(now, claimLease)
        }
        const claim = yield* store.claim(held)
        switch (claim._tag) {
          case "Replayed":
            return claim.outcome._tag === "Enrolled" ? claim.outcome : yield* toError(claim.outcome)
          case "Mismatch":
            return yield* new ReplayMismatch({
              message: "This flowId was used with another body; start again at /v2/enroll/signature"
            })
          case "InProgress":
            return yield* new ReplayInProgress({ message: "This enrollment is still in progress; retry in 2 seconds" })
          case "Claimed": {
            const mismatches = mismatchesOf(request, flow)
            if (mismatches.length > 0) {
              yield* store.release(held)
              return yield* new ValidationFailed({
                message: "Send back the values of stage 1 unchanged",
                details: mismatches
              })
            }
            return yield* Effect.onInterrupt(commit(flow, request), () => store.release(held))
          }
        }
      })

      return Enrollments.of({ authorize, enroll })
    })
  )
}

const signatureRefused: Refused = {
  _tag: "Refused",
  error: "ValidationFailed",
  message:
    "The signature is not the owner's; start again at /v2/enroll/signature and sign the raw 32 bytes with EIP-191",
  details: ["signature: does not recover to ownerAccountId"]
}

const indexRefused: Refused = {
  _tag: "Refused",
  error: "ValidationFailed",
  message: "Another enrollment of this owner used the account index first; start again at /v2/enroll/signature",
  details: ["accountIndex: already used"]
}

const existsRefused = (flow: EnrollmentFlow): Refused => ({
  _tag: "Refused",
  error: "PortfolioExists",
  message: `A portfolio of ${flow.authorization.ownerAccountId} in strategy ${flow.strategyId} already exists`,
  details: []
})

const toError = ({ error, message, details }: Refused) =>
  error === "PortfolioExists" ? new PortfolioExists({ message }) : new ValidationFailed({ message, details })
