/**
 * Adds chains to a portfolio with one more signature of its owner: the account has the same address there, and the agent
 * a permission of its own. A chain on which a run waits for the owner's signature is authorized anew in the same way. Source: shapes 5 A; docs/decisions/0018-chain-activation.md.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import type { ChainId } from "#domain/Caip.ts"
import { Chains, requireSupported } from "#domain/chain/Chains.ts"
import { type ActivationRequest, mismatchesOf, requestBytes } from "#domain/enrollment/ActivationRequest.ts"
import { agentTokensOn } from "#domain/enrollment/agentTokens.ts"
import type { Activated, EnrollmentFlow, Refused } from "#domain/enrollment/Enrollment.ts"
import { type EnrolledPortfolio, EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { type FlowError, makeFlows } from "#domain/enrollment/Flows.ts"
import { authorizedChains } from "#domain/enrollment/Grant.ts"
import { signatureRefused } from "#domain/enrollment/signatureRefused.ts"
import { SmartAccounts } from "#domain/enrollment/SmartAccounts.ts"
import { type PortfolioExists, PortfolioNotFound, ValidationFailed, type VerifierUnavailable } from "#domain/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { PortfolioId } from "#domain/Ids.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

export type ActivationError = Exclude<FlowError, PortfolioExists> | PortfolioNotFound

export class ChainActivations extends Context.Service<
  ChainActivations,
  {
    /** Stage 1. Chains that are active already, and await no signature, are left out of what is signed. */
    readonly authorize: (
      portfolioId: PortfolioId,
      chainIds: ReadonlyArray<number>
    ) => Effect.Effect<EnrollmentFlow, ValidationFailed | PortfolioNotFound | VerifierUnavailable, Caller>
    /** Stage 2: the portfolio with its new accounts. */
    readonly activate: (request: ActivationRequest) => Effect.Effect<Portfolio, ActivationError, Caller>
  }
>()("ballast/domain/enrollment/ChainActivations") {
  static readonly layer = Layer.effect(
    ChainActivations,
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const strategies = yield* StrategyStore
      const assets = yield* Assets
      const accounts = yield* SmartAccounts
      const chains = yield* Chains
      const flows = yield* makeFlows

      const requirePortfolio = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
        const { tenantId } = yield* Caller
        const portfolio = yield* store.findEnrolled(tenantId, portfolioId)
        if (Option.isNone(portfolio)) return yield* notFound(portfolioId)
        return portfolio.value
      })

      /** An account that is in use accepts an authorization at the nonce that its chain shows. */
      const withNonce = Effect.fnUntraced(function* <C extends { readonly chainId: ChainId }>(
        { grants }: EnrolledPortfolio,
        chain: C
      ) {
        const active = authorizedChains(grants).find(({ chainId }) => chainId === chain.chainId)
        if (active === undefined) return chain
        return { ...chain, enableNonce: yield* accounts.enableNonce(active.accountId) }
      })

      const authorize = Effect.fn("ChainActivations.authorize")(function* (
        portfolioId: PortfolioId,
        chainIds: ReadonlyArray<number>
      ) {
        const portfolio = yield* requirePortfolio(portfolioId)
        const enrolled = portfolio.grants[0].authorization
        const known = activeChains(portfolio)
        if (enrolled.accountType === "ERC1271" && !chainIds.every((chainId) => known.has(chainId))) {
          return yield* new ValidationFailed({
            message: "The owner is a contract, which signs for one chain only; enroll it on the other chain",
            details: ["portfolioId: a portfolio of an ERC1271 owner stays on its chain"]
          })
        }
        const supported = yield* Effect.provideService(requireSupported(chainIds), Chains, chains)
        const added = supported.filter((chainId) => !known.has(chainId) || portfolio.awaited.includes(chainId))
        if (added.length === 0) {
          return yield* new ValidationFailed({
            message: "All of these chains are active already; there is nothing to sign",
            details: [`chainIds: already active ${chainIds.join(", ")}`]
          })
        }
        const strategy = Option.getOrThrow(yield* strategies.find(portfolio.strategyId))
        const authorization = yield* accounts.authorize({
          accountType: enrolled.accountType,
          ownerAccountId: enrolled.ownerAccountId,
          accountIndex: enrolled.accountIndex,
          withdrawalDomainName: enrolled.withdrawalDomainName,
          chains: yield* Effect.forEach(yield* agentTokensOn(assets, added, strategy.allocation), (chain) =>
            withNonce(portfolio, chain)
          )
        })
        return yield* flows.begin({ _tag: "Activate", portfolioId }, portfolio.strategyId, authorization)
      })

      const addChains = Effect.fnUntraced(function* (flow: EnrollmentFlow, request: ActivationRequest) {
        const { authorization } = flow
        if (!(yield* accounts.isSignedByOwner(authorization, request.signature))) {
          return signatureRefused(authorization.accountType)
        }
        const result = yield* store.activate({
          portfolioId: request.portfolioId,
          flow,
          ownerSignature: request.signature,
          grantedAt: yield* DateTime.now
        })
        return result === "ChainActive" || result === "PortfolioGone" ? overtaken[result] : result
      })

      const activate = Effect.fn("ChainActivations.activate")(function* (request: ActivationRequest) {
        const { portfolioId } = request
        const active = activeChains(yield* requirePortfolio(portfolioId))
        const { portfolio } = yield* flows
          .resume<Activated>({
            flowId: request.flowId,
            purpose: { _tag: "Activate", portfolioId },
            body: requestBytes(request),
            mismatches: (flow) => mismatchesOf(request, flow, active),
            carryOut: (flow) => addChains(flow, request)
          })
          // No activation is refused with it.
          .pipe(Effect.catchTag("PortfolioExists", Effect.die))
        return portfolio
      })

      return ChainActivations.of({ authorize, activate })
    })
  )
}

const activeChains = ({ grants }: EnrolledPortfolio): ReadonlySet<number> =>
  new Set(authorizedChains(grants).map(({ chainId }) => chainId))

const notFound = (portfolioId: PortfolioId) =>
  new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` })

/** What happened between the stages. */
const overtaken: Record<"ChainActive" | "PortfolioGone", Refused> = {
  ChainActive: {
    _tag: "Refused",
    error: "ValidationFailed",
    message: "Another activation of this portfolio took one of the chains first; start again at stage 1",
    details: ["chainIds: already active"]
  },
  PortfolioGone: {
    _tag: "Refused",
    error: "ValidationFailed",
    message: "The portfolio was archived meanwhile",
    details: ["portfolioId: archived"]
  }
}
