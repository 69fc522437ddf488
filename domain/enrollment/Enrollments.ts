/**
 * Enrolls a user into a strategy with one signature: stage 1 fixes what will be authorized, stage 2 checks the owner's
 * signature and makes the portfolio. Source: interface "enroll/signature" and "enroll", shapes 2.15 and 2.16.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Assets } from "#domain/asset/Assets.ts"
import type { ChainId, WalletId } from "#domain/Caip.ts"
import { Chains, requireSupported } from "#domain/chain/Chains.ts"
import { agentTokensOn } from "#domain/enrollment/agentTokens.ts"
import type { AccountType } from "#domain/account/Authorization.ts"
import type { Enrolled, EnrollmentFlow, Refused } from "#domain/enrollment/Enrollment.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { type EnrollRequest, mismatchesOf, requestBytes } from "#domain/enrollment/EnrollRequest.ts"
import { type FlowError, makeFlows } from "#domain/enrollment/Flows.ts"
import { type PermissionTerms, requireGuarded, termsOn, tightened } from "#domain/enrollment/PermissionTerms.ts"
import { signatureRefused } from "#domain/enrollment/signatureRefused.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { type ExternalIdTaken, PortfolioExists, ValidationFailed, type VerifierUnavailable } from "#domain/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { makePortfolioId, type StrategyId } from "#domain/Ids.ts"
import { labelsOf, refusalError } from "#domain/Labels.ts"
import { Settings } from "#domain/Settings.ts"
import { requireEnrollable } from "#domain/strategy/requireEnrollable.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

/** What stage 1 asks for. */
export interface AuthorizationDraft {
  /** Left out: the guard's own limits, and no closed list. */
  readonly terms?: PermissionTerms
  readonly accountType: AccountType
  readonly ownerAccountId: WalletId
  readonly strategyId: StrategyId
  readonly chainIds: ReadonlyArray<number>
}

const firstRebalanceDelay = { seconds: 5 }

const invalid = (message: string, ...details: ReadonlyArray<string>) => new ValidationFailed({ message, details })

export class Enrollments extends Context.Service<
  Enrollments,
  {
    readonly authorize: (
      draft: AuthorizationDraft
    ) => Effect.Effect<EnrollmentFlow, ValidationFailed | VerifierUnavailable | PortfolioExists, Caller>
    readonly enroll: (request: EnrollRequest) => Effect.Effect<Enrolled, FlowError | ExternalIdTaken, Caller>
  }
>()("ballast/domain/enrollment/Enrollments") {
  static readonly layer = Layer.effect(
    Enrollments,
    Effect.gen(function* () {
      const { brandName } = yield* Settings
      const store = yield* EnrollmentStore
      const strategies = yield* StrategyStore
      const assets = yield* Assets
      const accounts = yield* SmartAccounts
      const tenants = yield* TenantConfigurationStore
      const chains = yield* Chains
      const random = yield* SecureRandom.SecureRandom
      const flows = yield* makeFlows

      /** An owner that is a contract rules on signatures on its own chain only, and must be there to do so. */
      const requireContractOwner = Effect.fnUntraced(function* (
        ownerAccountId: WalletId,
        chainIds: ReadonlyArray<ChainId>
      ) {
        const [chainId, ...others] = chainIds
        if (chainId === undefined || others.length > 0) {
          return yield* invalid(
            "A portfolio of an ERC1271 owner is on exactly one EVM chain; enroll once for each chain",
            "chainIds: expected exactly one EVM chain id with accountType ERC1271"
          )
        }
        if (!(yield* accounts.isContract(ownerAccountId, chainId))) {
          return yield* invalid(
            `The owner is not a contract on chain ${chainId}; deploy it there first, or enroll it as ECDSA when it is a key`,
            `ownerAccountId: has no code on chain ${chainId}`
          )
        }
      })

      const authorize = Effect.fn("Enrollments.authorize")(function* (draft: AuthorizationDraft) {
        const { accountType, ownerAccountId } = draft
        const chainIds = yield* Effect.provideService(requireSupported(draft.chainIds), Chains, chains)
        const strategy = yield* requireEnrollable(strategies, draft.strategyId)
        const { tenantId } = yield* Caller
        const existing = yield* store.findPortfolio(tenantId, strategy.strategyId, ownerAccountId)
        if (Option.isSome(existing)) {
          return yield* new PortfolioExists({
            message: existsMessage(ownerAccountId, strategy.strategyId),
            details: [`portfolioId: ${existing.value}`]
          })
        }
        if (accountType === "ERC1271") yield* requireContractOwner(ownerAccountId, chainIds)
        const { permissionTerms } = yield* tenants.preferences(tenantId)
        const authorization = yield* accounts.authorize({
          accountType,
          ownerAccountId,
          accountIndex: yield* store.candidateIndex(ownerAccountId),
          withdrawalDomainName: `${brandName} Withdrawal Authorization`,
          chains: yield* Effect.forEach(yield* agentTokensOn(assets, chainIds, strategy.allocation), (chain) =>
            Effect.map(Effect.fromResult(termsOn(chain.chainId, draft.terms, undefined)), (terms) => ({
              ...chain,
              terms: tightened(terms, permissionTerms)
            }))
          )
        })
        yield* Effect.fromResult(requireGuarded(authorization, draft.terms))
        return yield* flows.begin({ _tag: "Enroll" }, strategy.strategyId, authorization)
      })

      const makePortfolio = Effect.fnUntraced(function* (flow: EnrollmentFlow, request: EnrollRequest) {
        const { authorization } = flow
        if (!(yield* accounts.isSignedByOwner(authorization, request.signature))) {
          return yield* signatureRefused(authorization.accountType)
        }
        // Asked last: a strategy may have become private since stage 1, and while the owner's contract was asked.
        yield* requireEnrollable(strategies, flow.strategyId)
        const createdAt = yield* DateTime.now
        const outcome: Enrolled = {
          _tag: "Enrolled",
          portfolioId: yield* Effect.provideService(makePortfolioId, SecureRandom.SecureRandom, random),
          portfolioName: request.portfolioName,
          strategyId: flow.strategyId,
          smartAccounts: authorization.chains.map(({ accountId }) => accountId),
          ...labelsOf(request)
        }
        const result = yield* store.commit(
          {
            portfolioId: outcome.portfolioId,
            name: request.portfolioName,
            ...labelsOf(request),
            flow,
            ownerSignature: request.signature,
            dueAt: DateTime.add(createdAt, firstRebalanceDelay),
            createdAt
          },
          outcome
        )
        if (result === "Committed") return outcome
        // Not for good: the same signature may come back with another id.
        if (typeof result === "object") return yield* refusalError("portfolio", result)
        return result === "PortfolioExists" ? existsRefused(flow) : indexRefused
      })

      const enroll = Effect.fn("Enrollments.enroll")((request: EnrollRequest) =>
        flows.resume<Enrolled, ExternalIdTaken>({
          flowId: request.flowId,
          purpose: { _tag: "Enroll" },
          body: requestBytes(request),
          mismatches: (flow) => mismatchesOf(request, flow),
          execute: (flow) => makePortfolio(flow, request)
        })
      )

      return Enrollments.of({ authorize, enroll })
    })
  )
}

const indexRefused: Refused = {
  _tag: "Refused",
  error: "ValidationFailed",
  message: "Another enrollment of this owner used the account index first; start again at /v2/enroll/signature",
  details: ["accountIndex: already used"]
}

const existsMessage = (owner: WalletId, strategyId: StrategyId) =>
  `A portfolio of ${owner} in strategy ${strategyId} already exists`

const existsRefused = (flow: EnrollmentFlow): Refused => ({
  _tag: "Refused",
  error: "PortfolioExists",
  message: existsMessage(flow.authorization.ownerAccountId, flow.strategyId),
  details: []
})
