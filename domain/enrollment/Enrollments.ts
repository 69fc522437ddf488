/**
 * Enrolls a user into a strategy with one signature: stage 1 fixes what will be authorized, stage 2 checks the owner's
 * signature and makes the portfolio. Source: interface "enroll/signature" and "enroll", shapes 2.15 and 2.16.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Assets } from "#domain/asset/Assets.ts"
import { type ChainId, namespaceOfChain, type WalletId } from "#domain/values/Caip.ts"
import { Chains, requireSupported } from "#domain/chain/Chains.ts"
import { Families, requireOffered } from "#domain/chain/Families.ts"
import { agentTokensOn } from "#domain/enrollment/agentTokens.ts"
import type { AccountType } from "#domain/account/Authorization.ts"
import { walletRoleOf } from "#domain/account/Permission.ts"
import { type Enrolled, type EnrollmentFlow, isOnSolana, type Refused } from "#domain/enrollment/Enrollment.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { type EnrollRequest, enrollMismatches, enrollRequestBytes } from "#domain/enrollment/EnrollRequest.ts"
import { type FlowError, makeFlows } from "#domain/enrollment/Flows.ts"
import { makeSubAccounts, signatureIn } from "#domain/enrollment/makeSubAccount.ts"
import { type PermissionTerms, requireGuarded, termsOn, tightened } from "#domain/enrollment/PermissionTerms.ts"
import { signatureRefused } from "#domain/account/OwnerMessage.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { SolanaWallets } from "#domain/account/SolanaWallets.ts"
import {
  type ExternalIdTaken,
  PortfolioExists,
  type ReplayInProgress,
  type ReplayMismatch,
  ValidationFailed,
  type VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { makePortfolioId, type StrategyId } from "#domain/values/Ids.ts"
import { labelsOf, refusalError } from "#domain/values/Labels.ts"
import { BrandName } from "#domain/values/BrandName.ts"
import { requireEnrollable } from "#domain/strategy/requireEnrollable.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

/** The request of stage 1. */
export interface AuthorizationDraft {
  /** Left out: the guard's own limits, and no closed list. */
  readonly terms?: PermissionTerms
  readonly accountType: AccountType
  readonly ownerAccountId: WalletId
  readonly strategyId: StrategyId
  readonly chainIds: ReadonlyArray<ChainId>
}

const firstRebalanceDelay = { seconds: 5 }

const invalid = (message: string, ...details: ReadonlyArray<string>) => new ValidationFailed({ message, details })

/**
 * Runs both stages of an enrollment.
 *
 * **When to use**
 *
 * Use in the routes `enroll/signature` and `enroll`. More chains are added by `ChainActivations`, signatures are
 * renewed by `Renewals`.
 *
 * **Details**
 *
 * Stage 2 is idempotent on the flow: the same request is answered the same way again, and another one is refused.
 *
 * **Example** (Stage 1 for a wallet on one chain)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { ChainId, WalletId } from "#domain/values/Caip.ts"
 * import { Enrollments } from "#domain/enrollment/Enrollments.ts"
 * import { StrategyId } from "#domain/values/Ids.ts"
 *
 * const stage1 = Effect.gen(function* () {
 *   const enrollments = yield* Enrollments
 *   return yield* enrollments.authorize({
 *     accountType: "ECDSA",
 *     ownerAccountId: Schema.decodeSync(WalletId)("eip155:0:0x52908400098527886E0F7030069857D2E4169EE7"),
 *     strategyId: StrategyId.make("01JQ8ZKX4V6T3M9N2C5B7D8F0G"),
 *     chainIds: [ChainId.make(8453)]
 *   })
 * })
 * ```
 */
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
      const brandName = yield* BrandName
      const store = yield* EnrollmentStore
      const strategies = yield* StrategyStore
      const assets = yield* Assets
      const accounts = yield* SmartAccounts
      const wallets = yield* SolanaWallets
      const makeSubAccount = yield* makeSubAccounts
      const tenants = yield* TenantConfigurationStore
      const chains = yield* Chains
      const families = yield* Families
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
        const withdrawalDomainName = `${brandName} Withdrawal Authorization`
        const involved = [...new Set(chainIds.map((chainId) => families[namespaceOfChain(chainId)]))]
        for (const family of involved) {
          if (accountType === "ERC1271") yield* Effect.fromResult(requireOffered(family, "contractOwner"))
          if (draft.terms !== undefined) yield* Effect.fromResult(requireOffered(family, "guardTerms"))
        }
        if (involved.some(({ enrollment }) => enrollment === "sub_account")) {
          const issued = yield* wallets.issue({ tenantId, ownerAccountId, withdrawalDomainName })
          return yield* flows.begin({ purpose: { _tag: "Enroll" }, strategyId: strategy.strategyId, ...issued })
        }
        if (accountType === "ERC1271") yield* requireContractOwner(ownerAccountId, chainIds)
        const { permissionTerms } = yield* tenants.preferences(tenantId)
        const authorization = yield* accounts.authorize({
          accountType,
          ownerAccountId,
          accountIndex: yield* store.candidateIndex(ownerAccountId),
          withdrawalDomainName,
          chains: yield* Effect.forEach(yield* agentTokensOn(assets, chainIds, strategy.allocation), (chain) =>
            Effect.map(Effect.fromResult(termsOn(chain.chainId, draft.terms, undefined)), (terms) => ({
              ...chain,
              terms: tightened(terms, permissionTerms)
            }))
          )
        })
        yield* Effect.fromResult(requireGuarded(authorization, draft.terms))
        return yield* flows.begin({ purpose: { _tag: "Enroll" }, strategyId: strategy.strategyId, authorization })
      })

      const requireSignature = Effect.fnUntraced(function* (
        { authorization, strategyId }: EnrollmentFlow,
        signature: string
      ) {
        if (!(yield* accounts.isSignedByOwner(authorization, signature))) {
          return yield* signatureRefused(authorization.accountType)
        }
        // Checked last: a strategy may have become private since stage 1, and while the owner's contract was called.
        yield* requireEnrollable(strategies, strategyId)
        return signature
      })

      /** What would refuse the portfolio afterwards is checked before the chain is changed for it. */
      const requireRoom = Effect.fnUntraced(function* ({ authorization, strategyId, tenantId }: EnrollmentFlow) {
        yield* requireEnrollable(strategies, strategyId)
        const { ownerAccountId } = authorization
        const existing = yield* store.findPortfolio(tenantId, strategyId, ownerAccountId)
        if (Option.isSome(existing)) {
          return yield* new PortfolioExists({ message: existsMessage(ownerAccountId, strategyId) })
        }
      })

      /** The owner's signature, once it holds: of a sub-account once the chain shows what was signed. */
      const obtainSignature = Effect.fnUntraced(function* (flow: EnrollmentFlow, { consent }: EnrollRequest) {
        if (!isOnSolana(flow)) {
          if (consent._tag === "Signature") return yield* requireSignature(flow, consent.signature)
          return yield* invalid("The flow is about EVM chains; send the signature of stage 1", "signature: missing")
        }
        if (consent._tag === "Signature") {
          return yield* invalid(
            "The flow is about Solana; send what its owner signs there",
            "signedSolanaTransaction: missing, or userSecp256k1PublicKey and currentSlot of an EVM owner"
          )
        }
        yield* makeSubAccount(flow, consent, requireRoom(flow))
        return signatureIn(consent)
      })

      const makePortfolio = Effect.fnUntraced(function* (flow: EnrollmentFlow, request: EnrollRequest) {
        const { authorization } = flow
        const ownerSignature = yield* obtainSignature(flow, request)
        const walletRoleId = walletRoleOf(authorization.chains[0])
        const createdAt = yield* DateTime.now
        const outcome: Enrolled = {
          _tag: "Enrolled",
          portfolioId: yield* Effect.provideService(makePortfolioId, SecureRandom.SecureRandom, random),
          portfolioName: request.portfolioName,
          strategyId: flow.strategyId,
          smartAccounts: authorization.chains.map(({ accountId }) => accountId),
          ...(walletRoleId === undefined ? {} : { walletRoleId }),
          ...labelsOf(request)
        }
        const result = yield* store.commit(
          {
            portfolioId: outcome.portfolioId,
            name: request.portfolioName,
            ...labelsOf(request),
            flow,
            ownerSignature,
            dueAt: DateTime.add(createdAt, firstRebalanceDelay),
            createdAt
          },
          outcome
        )
        switch (result._tag) {
          case "Committed":
            return outcome
          case "PortfolioExists":
            return existsRefused(flow)
          case "IndexTaken":
            return indexRefused
          default:
            // Not for good: the same signature may come back with another id.
            return yield* refusalError("portfolio", result)
        }
      })

      const enroll = Effect.fn("Enrollments.enroll")((request: EnrollRequest) =>
        flows.resume<Enrolled, ExternalIdTaken | PortfolioExists | ReplayInProgress | ReplayMismatch>({
          flowId: request.flowId,
          purpose: { _tag: "Enroll" },
          body: enrollRequestBytes(request),
          mismatches: (flow) => enrollMismatches(request, flow),
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
