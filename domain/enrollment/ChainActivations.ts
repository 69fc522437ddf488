/**
 * Adds chains to a portfolio with one more signature of its owner: the account has the same address there, and the
 * agent a permission of its own. A chain on which a run waits for the owner's signature is authorized anew in the same
 * way. Source: shapes A; docs/decisions/0018-chain-activation.md.
 */
import { Context, Effect, Layer, Option } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import { type ChainId, namespaceOfChain } from "#domain/values/Caip.ts"
import { Chains, requireSupported } from "#domain/chain/Chains.ts"
import { Families } from "#domain/chain/Families.ts"
import type { ActivationRequest } from "#domain/enrollment/ActivationRequest.ts"
import { agentTokensOn } from "#domain/enrollment/agentTokens.ts"
import type { EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import type { EnrolledPortfolio } from "#domain/enrollment/EnrollmentStore.ts"
import { familyOf } from "#domain/account/Authorization.ts"
import { termsOf } from "#domain/account/Permission.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import { termsOfAdded, tightened } from "#domain/enrollment/PermissionTerms.ts"
import { type ActivationError, makeSignedChains } from "#domain/enrollment/SignedChains.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { type PortfolioNotFound, ValidationFailed, type VerifierUnavailable } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

/**
 * Adds chains to a portfolio.
 *
 * **When to use**
 *
 * Use for chains on which the portfolio has no account, or on which a run waits for its owner. Replacing permissions of
 * active chains is `Renewals`.
 */
export class ChainActivations extends Context.Service<
  ChainActivations,
  {
    /** Stage 1. Chains that are active already, and await no signature, are left out of what is signed. */
    readonly authorize: (
      portfolioId: PortfolioId,
      chainIds: ReadonlyArray<ChainId>
    ) => Effect.Effect<EnrollmentFlow, ValidationFailed | PortfolioNotFound | VerifierUnavailable, Caller>
    /** Stage 2: the portfolio with its new accounts. */
    readonly activate: (request: ActivationRequest) => Effect.Effect<Portfolio, ActivationError, Caller>
  }
>()("ballast/domain/enrollment/ChainActivations") {
  static readonly layer = Layer.effect(
    ChainActivations,
    Effect.gen(function* () {
      const strategies = yield* StrategyStore
      const assets = yield* Assets
      const accounts = yield* SmartAccounts
      const tenants = yield* TenantConfigurationStore
      const chains = yield* Chains
      const families = yield* Families
      const { begin, finish, requirePortfolio } = yield* makeSignedChains

      /**
       * An account that is in use accepts an authorization at the nonce that its chain shows, and keeps its terms. A
       * new one gets the limits of the portfolio's others, and a closed list where they have one.
       */
      const withNonce = Effect.fnUntraced(function* <C extends { readonly chainId: ChainId }>(
        { grants }: EnrolledPortfolio,
        allocation: Allocation,
        chain: C
      ) {
        const authorized = authorizedChains(grants)
        const active = authorized.find(({ chainId }) => chainId === chain.chainId)
        if (active === undefined) {
          const targets = allocation.map(({ assetId }) => assetId)
          return { ...chain, terms: yield* Effect.fromResult(termsOfAdded(chain.chainId, authorized, targets)) }
        }
        return { ...chain, terms: termsOf(active), enableNonce: yield* accounts.enableNonce(active.accountId) }
      })

      const authorize = Effect.fn("ChainActivations.authorize")(function* (
        portfolioId: PortfolioId,
        chainIds: ReadonlyArray<ChainId>
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
        const family = familyOf(enrolled)
        if (supported.some((id) => namespaceOfChain(id) !== family)) {
          const places = Object.values(families).map(({ chains: name }) => `on ${name}`)
          return yield* new ValidationFailed({
            message: `A portfolio is ${places.join(" or ")}; enroll its owner once more for the other`,
            details: [`chainIds: the portfolio is on ${families[family].chains}`]
          })
        }
        const added = supported.filter((chainId) => !known.has(chainId) || portfolio.awaited.includes(chainId))
        if (added.length === 0) {
          return yield* new ValidationFailed({
            message: "All of these chains are active already; there is nothing to sign",
            details: [`chainIds: already active ${chainIds.join(", ")}`]
          })
        }
        const strategy = Option.getOrThrow(yield* strategies.find(portfolio.strategyId))
        const { permissionTerms } = yield* tenants.preferences((yield* Caller).tenantId)
        const authorization = yield* accounts.authorize({
          accountType: enrolled.accountType,
          ownerAccountId: enrolled.ownerAccountId,
          accountIndex: enrolled.accountIndex,
          withdrawalDomainName: enrolled.withdrawalDomainName,
          chains: yield* Effect.forEach(yield* agentTokensOn(assets, added, strategy.allocation), (chain) =>
            Effect.map(withNonce(portfolio, strategy.allocation, chain), (one) => ({
              ...one,
              terms: tightened(one.terms, permissionTerms)
            }))
          )
        })
        return yield* begin({
          purpose: { _tag: "Activate", portfolioId },
          strategyId: portfolio.strategyId,
          authorization
        })
      })

      const activate = Effect.fn("ChainActivations.activate")(function* (request: ActivationRequest) {
        const active = activeChains(yield* requirePortfolio(request.portfolioId))
        return yield* finish("Activate", request, active)
      })

      return ChainActivations.of({ authorize, activate })
    })
  )
}

const activeChains = ({ grants }: EnrolledPortfolio): ReadonlySet<ChainId> =>
  new Set(authorizedChains(grants).map(({ chainId }) => chainId))
