/**
 * The end of the agent's permissions by a signature of the owner, in two stages. With stage 2 the portfolio is paused,
 * whatever becomes of the transactions; the operation puts what the owner signed on each chain. Source:
 * docs/decisions/0115-revocations.md.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { ChainId } from "#domain/values/Caip.ts"
import { familyOf } from "#domain/account/Authorization.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { Families, requireOffered } from "#domain/chain/Families.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { signatureRefused } from "#domain/account/OwnerMessage.ts"
import { PortfolioNotFound, ReplayMismatch, ValidationFailed, type VerifierUnavailable } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { type FlowId, makeFlowId, makeOperationId, type PortfolioId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { RevocationTransactions } from "#domain/revocation/RevocationTransactions.ts"
import {
  type AcceptedRevocation,
  type RevocationFlow,
  RevocationStore,
  type StoredFlow
} from "#domain/revocation/RevocationStore.ts"

const flowLife = { hours: 24 }

export interface RevokeRequest {
  readonly portfolioId: PortfolioId
  readonly flowId: FlowId
  /** Hex: 65 bytes of a key, or what a contract accepts as a signature. */
  readonly signature: string
}

export type RevokeError = PortfolioNotFound | ValidationFailed | ReplayMismatch | VerifierUnavailable

/**
 * Runs both stages of a revocation.
 *
 * **When to use**
 *
 * Use in the routes `revoke/signature` and `revoke`. Stopping automation without a signature is `Portfolios.stop`; a
 * revocation is lifted by `Renewals`.
 */
export class Revocations extends Context.Service<
  Revocations,
  {
    /** Stage 1: what the owner signs, for the given chains of the portfolio, or for all that are not revoked. */
    readonly authorize: (
      portfolioId: PortfolioId,
      chainIds?: ReadonlyArray<ChainId>
    ) => Effect.Effect<RevocationFlow, PortfolioNotFound | ValidationFailed | VerifierUnavailable, Caller>
    /** Stage 2. The same request is answered the same way again. */
    readonly revoke: (request: RevokeRequest) => Effect.Effect<AcceptedRevocation, RevokeError, Caller>
  }
>()("ballast/domain/revocation/Revocations") {
  static readonly layer = Layer.effect(
    Revocations,
    Effect.gen(function* () {
      const store = yield* RevocationStore
      const enrollments = yield* EnrollmentStore
      const accounts = yield* SmartAccounts
      const execution = yield* RevocationTransactions
      const launcher = yield* OperationLauncher
      const families = yield* Families
      const random = yield* SecureRandom.SecureRandom

      const requirePortfolio = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
        const { tenantId } = yield* Caller
        const portfolio = yield* enrollments.findEnrolled(tenantId, portfolioId)
        if (Option.isNone(portfolio)) {
          return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` })
        }
        return portfolio.value
      })

      const authorize = Effect.fn("Revocations.authorize")(function* (
        portfolioId: PortfolioId,
        chainIds?: ReadonlyArray<ChainId>
      ) {
        const { tenantId } = yield* Caller
        const { grants } = yield* requirePortfolio(portfolioId)
        yield* Effect.fromResult(requireOffered(families[familyOf(grants[0].authorization)], "revocation"))
        const revoked = yield* store.revoked(portfolioId)
        const live = authorizedChains(grants).filter(
          ({ chainId, permissionId }) =>
            !revoked.some((one) => one.chainId === chainId && one.permissionId === permissionId)
        )
        const [first, ...others] = live.filter(({ chainId }) => chainIds?.includes(chainId) ?? true)
        const unknown = chainIds?.filter((id) => !live.some(({ chainId }) => chainId === id)) ?? []
        if (first === undefined || unknown.length > 0) {
          return yield* new ValidationFailed({
            message: "There is no permission of the agent to revoke there",
            details: [
              chainIds === undefined
                ? "portfolioId: revoked on all of its chains"
                : `chainIds: not authorized, or revoked ${unknown.join(", ")}`
            ]
          })
        }
        const { accountIndex, accountType, ownerAccountId, withdrawalDomainName } = grants[0].authorization
        const createdAt = yield* DateTime.now
        const flow: RevocationFlow = {
          flowId: yield* Effect.provideService(makeFlowId, SecureRandom.SecureRandom, random),
          tenantId,
          portfolioId,
          revocation: yield* execution.draft({
            accountType,
            ownerAccountId,
            accountIndex,
            withdrawalDomainName,
            accounts: [first, ...others]
          }),
          createdAt,
          expiresAt: DateTime.add(createdAt, flowLife)
        }
        yield* store.insert(flow)
        return flow
      })

      const requireFlow = Effect.fnUntraced(function* ({ flowId, portfolioId }: RevokeRequest) {
        const { tenantId } = yield* Caller
        const flow = yield* store.find(tenantId, flowId)
        const now = yield* DateTime.now
        const isUsable = ({ accepted, expiresAt }: StoredFlow) =>
          accepted !== null || DateTime.isGreaterThan(expiresAt, now)
        if (Option.isNone(flow) || flow.value.portfolioId !== portfolioId || !isUsable(flow.value)) {
          return yield* unusable(portfolioId)
        }
        return flow.value
      })

      /** Null while nothing was accepted under the flow. */
      const replayed = Effect.fnUntraced(function* ({ accepted, portfolioId }: StoredFlow, signature: string) {
        if (accepted === null) return null
        if (accepted.signature !== signature) {
          return yield* new ReplayMismatch({
            message: `This flowId was used with another body; start again at ${stageOne(portfolioId)}`
          })
        }
        const answer: AcceptedRevocation = { operationId: accepted.operationId, submittedAt: accepted.submittedAt }
        return answer
      })

      const revoke = Effect.fn("Revocations.revoke")(function* (request: RevokeRequest) {
        yield* requirePortfolio(request.portfolioId)
        const signature = request.signature.toLowerCase()
        const flow = yield* requireFlow(request)
        const before = yield* replayed(flow, signature)
        if (before !== null) return before
        if (!(yield* accounts.isSignedByOwner(flow.revocation, signature))) {
          return yield* signatureRefused(flow.revocation.accountType)
        }
        const accepted: AcceptedRevocation = {
          operationId: yield* Effect.provideService(makeOperationId, SecureRandom.SecureRandom, random),
          submittedAt: yield* DateTime.now
        }
        if (!(yield* store.accept(flow, signature, accepted))) {
          const other = yield* replayed(yield* requireFlow(request), signature)
          return other === null ? yield* unusable(request.portfolioId) : other
        }
        // It is accepted whatever becomes of the launch: the scheduler launches what it finds accepted.
        yield* launcher
          .launch({ operationId: accepted.operationId, kind: "revoke" })
          .pipe(Effect.catchCause((cause) => Effect.logError("A revocation was accepted but not launched yet", cause)))
        return accepted
      })

      return Revocations.of({ authorize, revoke })
    })
  )
}

const stageOne = (portfolioId: PortfolioId) => `/v2/portfolios/${portfolioId}/revoke/signature`

const unusable = (portfolioId: PortfolioId) =>
  new ValidationFailed({
    message: `The flow is unknown, older than 24 hours or followed by a later one; start again at ${stageOne(portfolioId)}`,
    details: ["flowId: unknown or expired"]
  })
