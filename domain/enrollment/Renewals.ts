/**
 * Signing anew: the owner replaces the permissions that a portfolio has, for their time is ending, for other terms, or
 * after a revocation, which it lifts. The accounts stay. Source: shapes 2.30 (resign), docs/decisions/0116-renewals.md.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { familyOf } from "#domain/account/Authorization.ts"
import { termsOf } from "#domain/account/Permission.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { Chains, requireSupported } from "#domain/chain/Chains.ts"
import { Families, requireOffered } from "#domain/chain/Families.ts"
import type { ActivationRequest } from "#domain/enrollment/ActivationRequest.ts"
import { agentTokensOn } from "#domain/enrollment/agentTokens.ts"
import type { EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import { type PermissionTerms, requireGuarded, termsOn, tightened } from "#domain/enrollment/PermissionTerms.ts"
import { type ActivationError, makeSignedChains } from "#domain/enrollment/SignedChains.ts"
import { type PortfolioNotFound, ValidationFailed, type VerifierUnavailable } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

/**
 * Replaces the permissions of a portfolio's active chains.
 *
 * **When to use**
 *
 * Use before permissions end, for other terms, and to lift a revocation. Chains without an account are added by
 * `ChainActivations`.
 */
export class Renewals extends Context.Service<
  Renewals,
  {
    /** Stage 1, for the given chains of the portfolio, or all of them, on the given terms, or those of now. */
    readonly authorize: (
      portfolioId: PortfolioId,
      chainIds?: ReadonlyArray<ChainId>,
      terms?: PermissionTerms
    ) => Effect.Effect<EnrollmentFlow, ValidationFailed | PortfolioNotFound | VerifierUnavailable, Caller>
    /** Stage 2: the portfolio; one that was revoked is `stopped` from then on, until it is started. */
    readonly renew: (request: ActivationRequest) => Effect.Effect<Portfolio, ActivationError, Caller>
  }
>()("ballast/domain/enrollment/Renewals") {
  static readonly layer = Layer.effect(
    Renewals,
    Effect.gen(function* () {
      const strategies = yield* StrategyStore
      const assets = yield* Assets
      const accounts = yield* SmartAccounts
      const tenants = yield* TenantConfigurationStore
      const chains = yield* Chains
      const families = yield* Families
      const { begin, finish, requirePortfolio } = yield* makeSignedChains

      const authorize = Effect.fn("Renewals.authorize")(function* (
        portfolioId: PortfolioId,
        chainIds?: ReadonlyArray<ChainId>,
        terms?: PermissionTerms
      ) {
        const { grants, isRevoking, strategyId } = yield* requirePortfolio(portfolioId)
        if (isRevoking) {
          return yield* new ValidationFailed({
            message: "A revocation is on its way to the chains; sign anew once its operation has ended",
            details: ["portfolioId: is being revoked"]
          })
        }
        yield* Effect.fromResult(requireOffered(families[familyOf(grants[0].authorization)], "renewal"))
        const active = authorizedChains(grants)
        const foreign = chainIds?.filter((id) => !active.some(({ chainId }) => chainId === id)) ?? []
        if (foreign.length > 0) {
          return yield* new ValidationFailed({
            message: "Sign anew for chains of the portfolio; add others at /chains/signature",
            details: [`chainIds: not active ${foreign.join(", ")}`]
          })
        }
        const wanted = chainIds ?? active.map(({ chainId }) => chainId)
        const supported = yield* Effect.provideService(requireSupported(wanted), Chains, chains)
        const strategy = Option.getOrThrow(yield* strategies.find(strategyId))
        const { accountIndex, accountType, ownerAccountId, withdrawalDomainName } = grants[0].authorization
        const { permissionTerms } = yield* tenants.preferences((yield* Caller).tenantId)
        const authorization = yield* accounts.authorize({
          accountType,
          ownerAccountId,
          accountIndex,
          withdrawalDomainName,
          chains: yield* Effect.forEach(
            yield* agentTokensOn(assets, supported, strategy.allocation),
            Effect.fnUntraced(function* (chain) {
              const present = active.find(({ chainId }) => chainId === chain.chainId)!
              const chainTerms = yield* Effect.fromResult(termsOn(chain.chainId, terms, termsOf(present)))
              return {
                ...chain,
                terms: tightened(chainTerms, permissionTerms),
                enableNonce: yield* accounts.enableNonce(present.accountId)
              }
            })
          )
        })
        yield* Effect.fromResult(requireGuarded(authorization, terms))
        return yield* begin({ purpose: { _tag: "Renew", portfolioId }, strategyId, authorization })
      })

      const renew = Effect.fn("Renewals.renew")(function* (request: ActivationRequest) {
        yield* requirePortfolio(request.portfolioId)
        return yield* finish("Renew", request, new Set())
      })

      return Renewals.of({ authorize, renew })
    })
  )
}
