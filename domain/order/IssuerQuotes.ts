/**
 * Trades of owners with the issuers of their tokens: what one would yield, and whether a submitted one names an amount
 * that a preview showed. Nothing is traded without a preview. Source: interface "Portfolio action submit".
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { QuotedByIssuer } from "#domain/order/OrderRequest.ts"
import { type OrderSource, OrderStore } from "#domain/order/OrderStore.ts"
import { feedLeg } from "#domain/order/feedLeg.ts"
import { IssuerQuoteStore, type StoredIssuerQuote } from "#domain/order/IssuerQuoteStore.ts"
import { accountOn, noAccount, ownPortfolio, refusedSwap } from "#domain/order/ownPortfolio.ts"
import type { SwapOrder } from "#domain/order/SwapOrder.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { addressOf, assetAt, type ChainId } from "#domain/values/Caip.ts"
import { IssuerUnavailable, type PortfolioNotFound, type ValidationFailed } from "#domain/errors/Errors.ts"
import type { SignedIn } from "#domain/identity/SignedIn.ts"
import { makeIssuerQuoteId, type PortfolioId } from "#domain/values/Ids.ts"
import { diverge, Prices } from "#domain/market/Prices.ts"
import { revokedRefusal } from "#domain/portfolio/Portfolios.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import { Issuer, type IssuerQuote, IssuerTerms } from "#domain/trading/Issuer.ts"

/** How long a trade may be submitted after its preview. */
const life = { minutes: 2 }

/** The trade that a quote is for. */
export type IssuerTradeRequest = Omit<QuotedByIssuer, "kind" | "expectedRaw">

export interface PreviewedQuote extends StoredIssuerQuote, IssuerQuote {
  readonly chainId: ChainId
}

export type IssuerError = ValidationFailed | IssuerUnavailable

/**
 * Previews and orders of trades with issuers.
 *
 * **When to use**
 *
 * Use `preview` to show a trade to an owner, and `order` to accept it afterwards.
 */
export class IssuerQuotes extends Context.Service<
  IssuerQuotes,
  {
    /** What the issuer would give now. Portfolios of other owners are not there. */
    readonly preview: (
      portfolioId: PortfolioId,
      request: IssuerTradeRequest
    ) => Effect.Effect<PreviewedQuote, IssuerError | PortfolioNotFound, SignedIn>
    /** The order of a trade whose expectation a preview named, and which the issuer still gives about now. */
    readonly order: (source: OrderSource, request: QuotedByIssuer) => Effect.Effect<SwapOrder, IssuerError>
  }
>()("ballast/domain/order/IssuerQuotes") {
  static readonly layer = Layer.effect(
    IssuerQuotes,
    Effect.gen(function* () {
      const actions = yield* OrderStore
      const store = yield* IssuerQuoteStore
      const issuer = yield* Issuer
      const { deviationBps, isOffered } = yield* IssuerTerms
      const assets = yield* Assets
      const prices = yield* Prices
      const { maxAgeMs: priceMaxAgeMs } = yield* PriceSettings
      const random = yield* SecureRandom.SecureRandom

      const tradeOf = Effect.fnUntraced(function* (source: OrderSource, request: IssuerTradeRequest) {
        const { buyToken, chainId, recipient, sellAmountRaw, sellToken } = request
        if (!isOffered) return yield* refusedSwap(["params.provider: issuer_direct is not offered here"])
        const accountId = accountOn(source, chainId)
        if (accountId === undefined) return yield* noAccount("chainId", chainId)
        const details = [
          ...(recipient === addressOf(accountId)
            ? []
            : [`params.recipientAddress: must be the portfolio's account, ${addressOf(accountId)}`]),
          ...(sellToken === buyToken ? ["params.buyTokenAddress: must be another token than sellTokenAddress"] : [])
        ]
        if (details.length > 0) return yield* refusedSwap(details)
        const [sell, buy] = [assetAt(chainId, sellToken), assetAt(chainId, buyToken)]
        return { chainId, accountId, sell, buy, amountRaw: sellAmountRaw }
      })
      type Trade = Effect.Success<ReturnType<typeof tradeOf>>

      /** Quotes by the price feed, which an issuer's price is held against; without a fresh price there is no trade. */
      const feedOf = Effect.fnUntraced(function* ({ amountRaw, buy, sell }: Trade) {
        const [known, latest] = yield* Effect.all([assets.find([sell, buy]), prices.latest([sell, buy])], {
          concurrency: 2
        }).pipe(Effect.mapError(({ message }) => new IssuerUnavailable({ message })))
        const facts = { assets: known, prices: latest, now: yield* DateTime.now, priceMaxAgeMs, feeBps: 0 }
        return yield* Effect.mapError(Effect.fromResult(feedLeg({ sell, buy, amountRaw }, facts)), (reason) =>
          refusedSwap([`params.buyTokenAddress: ${reason}`])
        )
      })

      const quoteOf = Effect.fnUntraced(function* (trade: Trade) {
        const { buy, leg, sell } = yield* feedOf(trade)
        const quote = yield* issuer.quote({ sell, buy, amountRaw: trade.amountRaw }).pipe(
          Effect.catchTags({
            IssuerSilent: ({ message }) => new IssuerUnavailable({ message }),
            IssuerRefused: ({ message }) => refusedSwap([`params.buyTokenAddress: ${message}`])
          })
        )
        if (diverge(quote.receiveRaw, leg.expectedBuyRaw, deviationBps)) {
          return yield* refusedSwap([
            `params.sellAmount: the issuer would give ${quote.receiveRaw}, which is more than ${deviationBps} basis points from the ${leg.expectedBuyRaw} of the price feed`
          ])
        }
        return quote
      })

      const preview = Effect.fn("IssuerQuotes.preview")(function* (
        portfolioId: PortfolioId,
        request: IssuerTradeRequest
      ) {
        const source = yield* ownPortfolio(actions, portfolioId)
        if (source.isRevoked) return yield* revokedRefusal(portfolioId)
        const trade = yield* tradeOf(source, request)
        const quote = yield* quoteOf(trade)
        const now = yield* DateTime.now
        const quoteId = yield* Effect.provideService(makeIssuerQuoteId, SecureRandom.SecureRandom, random)
        const { amountRaw, buy, chainId, sell } = trade
        const stored = { quoteId, portfolioId, sell, buy, amountRaw, receiveRaw: quote.receiveRaw }
        const previewed = { ...quote, ...stored, chainId, expiresAt: DateTime.add(now, life) }
        yield* store.keep(previewed, now)
        return previewed
      })

      const order = Effect.fn("IssuerQuotes.order")(function* (source: OrderSource, request: QuotedByIssuer) {
        const { accountId, amountRaw, buy, chainId, sell } = yield* tradeOf(source, request)
        const { expectedRaw } = request
        const field = "params.expectedReceiveAmount"
        const anew = "ask v2.portfolio.actions.previewIssuerDirectQuote, and send its estimatedReceiveAmount"
        if (expectedRaw === null) return yield* refusedSwap([`${field}: is missing; ${anew}`])
        const { portfolioId } = source
        const named = { portfolioId, sell, buy, amountRaw, receiveRaw: expectedRaw }
        if (!(yield* store.holds(named, yield* DateTime.now))) {
          return yield* refusedSwap([`${field}: no preview of this trade promised it in the last 2 minutes; ${anew}`])
        }
        const { receiveRaw } = yield* quoteOf({ chainId, accountId, sell, buy, amountRaw })
        if (diverge(receiveRaw, expectedRaw, deviationBps)) {
          return yield* refusedSwap([
            `${field}: the issuer would give ${receiveRaw} now, more than ${deviationBps} basis points away; ${anew}`
          ])
        }
        const issuer = { expectedRaw }
        return { _tag: "Swap", chainId, accountId, sell, buy, amountRaw, slippageBps: null, issuer } satisfies SwapOrder
      })

      return IssuerQuotes.of({ preview, order })
    })
  )
}
