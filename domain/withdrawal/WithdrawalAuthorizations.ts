/**
 * Stage 1 of a withdrawal: checks the request and makes what is signed. Nothing is stored; what comes back signed is
 * checked from the start. Source: shapes 2.22 and 2.24.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Assets } from "#domain/asset/Assets.ts"
import { type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { ownerMessage } from "#domain/account/OwnerMessage.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Families } from "#domain/chain/Families.ts"
import { ServiceContracts } from "#domain/chain/ServiceContracts.ts"
import {
  type InsufficientBalance,
  NothingToLiquidate,
  PortfolioNotFound,
  ValidationFailed,
  VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { Prices } from "#domain/market/Prices.ts"
import { SwapSettings } from "#domain/strategy/SwapSettings.ts"
import { swapLimits } from "#domain/strategy/resolveSwap.ts"
import { holdingsToLiquidate } from "#domain/withdrawal/holdingsToLiquidate.ts"
import { readBalances, requireCovered } from "#domain/withdrawal/liveBalances.ts"
import { settlementAssetOn } from "#domain/withdrawal/settlementAsset.ts"
import { requireOneTransaction } from "#domain/withdrawal/requireOneTransaction.ts"
import { requireRecipient } from "#domain/withdrawal/requireRecipient.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { type SignedForm, signedForm } from "#domain/withdrawal/signedForm.ts"
import { nativeOf, type WithdrawalMessage, withdrawalNonce } from "#domain/account/WithdrawalMessage.ts"
import {
  type SourceError,
  resolveSource,
  resolveWholeSource,
  type TermsError,
  type SourceContext,
  type ResolvedSource,
  type WithdrawalTerms
} from "#domain/withdrawal/resolveSource.ts"
import type { WithdrawalSource } from "#domain/withdrawal/WithdrawalSource.ts"
import { WithdrawalStore } from "#domain/withdrawal/WithdrawalStore.ts"

/** The request of stage 1. */
export interface WithdrawalDraft extends WithdrawalTerms {
  /** Only to liquidate; null for the chain's own. */
  readonly settlementAssetId: AssetId | null
}

interface Issued {
  /** `message.nonce`. */
  readonly authorizationId: string
  readonly expiresAt: DateTime.Utc
}

/** What stage 1 answers: what the owner signs, and until when. */
export type WithdrawalAuthorization = Issued & SignedForm

export type AuthorizeAllError = PortfolioNotFound | SourceError | NothingToLiquidate | VerifierUnavailable

export type AuthorizeError =
  | PortfolioNotFound
  | TermsError
  | ValidationFailed
  | InsufficientBalance
  | VerifierUnavailable

/** How long an authorization may be carried out. */
export const authorizationSeconds = 600

export const portfolioNotFound = (portfolioId: PortfolioId) =>
  new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` })

/**
 * Stage 1 of a withdrawal.
 *
 * **When to use**
 *
 * Use in the route `withdraw/signature` and its legacy forms. Stage 2 is `Withdrawals`.
 */
export class WithdrawalAuthorizations extends Context.Service<
  WithdrawalAuthorizations,
  {
    readonly authorize: (
      portfolioId: PortfolioId,
      draft: WithdrawalDraft
    ) => Effect.Effect<WithdrawalAuthorization, AuthorizeError, Caller>
    /** Issues the authorization to liquidate every holding on the recipient's chain that is worth a trade. */
    readonly authorizeAll: (
      portfolioId: PortfolioId,
      recipientAccountId: string
    ) => Effect.Effect<WithdrawalAuthorization, AuthorizeAllError, Caller>
  }
>()("ballast/domain/withdrawal/WithdrawalAuthorizations") {
  static readonly layer = Layer.effect(
    WithdrawalAuthorizations,
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const assets = yield* Assets
      const balances = yield* Balances
      const prices = yield* Prices
      const swapSettings = yield* SwapSettings
      const random = yield* SecureRandom.SecureRandom
      const contracts = yield* ServiceContracts
      const verifier = yield* WithdrawalVerifier
      const families = yield* Families

      const settlementOn = (chainId: ChainId) => settlementAssetOn(families, chainId)

      const contextOf = ({ grants }: WithdrawalSource): SourceContext => ({
        grants,
        contracts: contracts.on,
        families,
        at: ""
      })

      const requireSource = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
        const { tenantId } = yield* Caller
        const source = yield* store.source(tenantId, portfolioId)
        return Option.isSome(source) ? source.value : yield* portfolioNotFound(portfolioId)
      })

      const issue = Effect.fnUntraced(function* (
        { portfolioId }: WithdrawalSource,
        { chain, domainName, grant, recipientAccountId }: ResolvedSource,
        { assets, liquidate }: Pick<WithdrawalTerms, "assets" | "liquidate">
      ): Effect.fn.Return<WithdrawalAuthorization, VerifierUnavailable> {
        const now = yield* DateTime.now
        const expiresAt = Math.floor(now.epochMilliseconds / 1_000) + authorizationSeconds
        const drawn = yield* random.randomBytes(32)
        const isNative = nativeOf({ assets }) !== undefined
        const nonce = isNative ? yield* verifier.nativeNonce(chain.accountId, drawn) : withdrawalNonce(drawn)
        const message: WithdrawalMessage = {
          portfolioId,
          recipientAccountId,
          assets,
          nonce,
          expiresAt,
          ...(liquidate ? { liquidate } : {})
        }
        const issued = { authorizationId: nonce, expiresAt: DateTime.makeUnsafe(expiresAt * 1_000) }
        const { accountId } = chain
        const { accountType, ownerAccountId } = grant.authorization
        const root = verifier.nativeDigest({ accountId, grant, message })
        if (Option.isSome(root)) {
          const signed = ownerMessage({
            accountType,
            ownerAccountId,
            root: root.value,
            chains: [{ chainId: chain.chainId, accountId }]
          })
          return { ...issued, kind: "operation", accountId, signed, message }
        }
        return {
          ...issued,
          ...signedForm(families, { message, domainName, accountId, ownerAccountId })
        }
      })

      const authorize = Effect.fn("WithdrawalAuthorizations.authorize")(function* (
        portfolioId: PortfolioId,
        draft: WithdrawalDraft
      ) {
        const source = yield* requireSource(portfolioId)
        const site = yield* Effect.fromResult(resolveSource(draft, contextOf(source)))
        yield* requireSettlement(draft, settlementOn(chainIdOf(site.recipientAccountId)))
        yield* requireOneTransaction(families, draft.assets, "")
        yield* requireRecipient(verifier, site.recipientAccountId, "")
        yield* requireCovered(balances, { account: site.chain.accountId, assets: draft.assets, at: "" })
        return yield* issue(source, site, draft)
      })

      const authorizeAll = Effect.fn("WithdrawalAuthorizations.authorizeAll")(function* (
        portfolioId: PortfolioId,
        recipientAccountId: string
      ) {
        const source = yield* requireSource(portfolioId)
        const site = yield* Effect.fromResult(resolveWholeSource(recipientAccountId, contextOf(source)))
        yield* requireRecipient(verifier, site.recipientAccountId, "")
        const { accountId, chainId } = site.chain
        const catalogue = yield* assets.onChain(chainId)
        const { balances: held } = yield* readBalances(
          balances,
          accountId,
          catalogue.map(({ assetId }) => assetId)
        )
        const known = yield* prices
          .latest(catalogue.flatMap(({ assetId }) => ((held.get(assetId) ?? 0n) === 0n ? [] : [assetId])))
          .pipe(
            Effect.tapError((error) => Effect.logWarning("Holdings cannot be valued", error)),
            Effect.mapError(
              () => new VerifierUnavailable({ message: "Holdings cannot be valued now; send the same request again" })
            )
          )
        const { thresholdUsd } = swapLimits(source.swap, swapSettings)
        const chosen = holdingsToLiquidate({ balances: held, catalogue, prices: known, thresholdUsd })
        if (chosen.length === 0) {
          return yield* new NothingToLiquidate({
            message: `${accountId} holds nothing that is worth selling; withdraw small holdings as they are`
          })
        }
        return yield* issue(source, site, { assets: chosen, liquidate: true })
      })

      return WithdrawalAuthorizations.of({ authorize, authorizeAll })
    })
  )
}

/** Only the chain's own settlement asset is offered, because which one it is is not part of what the owner signs. */
const requireSettlement = ({ liquidate, settlementAssetId }: WithdrawalDraft, offered: AssetId | undefined) => {
  if (settlementAssetId === null) return Effect.void
  if (liquidate && settlementAssetId === offered) return Effect.void
  const reason = liquidate ? `only ${offered} is offered on this chain` : "only together with liquidate: true"
  return Effect.fail(
    new ValidationFailed({
      message: "The settlement asset cannot be chosen freely",
      details: [`settlementAssetId: ${reason}`]
    })
  )
}
