/**
 * Rows that say of each procedure of clients what it is asked about somebody else's objects. `own`: it names none, so
 * it answers about the sender alone. `everybody`: its answer is the same for all.
 */
import * as Errors from "#domain/errors/Errors.ts"
import { addressOf } from "#layers/evm/address.ts"
import type { Victim } from "#test/api/access/support/victim.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

export interface ProcedureRow {
  readonly input: (victim: Victim) => Readonly<Record<string, unknown>>
  /** Whose objects they are, and who may ask. */
  readonly whose: "owner" | "member"
  /** What they are answered; any success when left out. */
  readonly answer?: { readonly contract: { readonly code: string } }
  /** An id that narrows a list: the foreign one is answered with an empty list. */
  readonly isFilter?: true
  /** API keys are taken too. */
  readonly takesKeys?: true
}

const ofPortfolio: ProcedureRow = { input: ({ portfolioId }) => ({ portfolioId }), whose: "owner" }
const ofExecution: ProcedureRow = { input: ({ operationId }) => ({ operationId }), whose: "owner", takesKeys: true }
/** The tenant lets no owner act: they see the portfolio, and are shown so. */
const acting: ProcedureRow = { ...ofPortfolio, answer: Errors.PermissionDenied }

const trade = {
  chainId: "8453",
  sellTokenAddress: addressOf(baseUsdc.assetId),
  buyTokenAddress: addressOf(baseWeth.assetId),
  sellAmount: "1000000"
}

export const procedureRows: Readonly<Record<string, ProcedureRow | "own" | "everybody">> = {
  "cryptoMarketData.getNews": "everybody",
  "cryptoMarketData.getMarketQuotes": "everybody",
  "cryptoMarketData.getGlobal": "everybody",
  "cryptoMarketData.getMarketThemes": "everybody",
  "cryptoMarketData.getTrending": "everybody",
  "cryptoMarketData.getTopMovers": "everybody",
  "cryptoMarketData.getAssetPlatforms": "everybody",
  "cryptoMarketData.getCoinCategories": "everybody",
  "assets.browseAssets": "everybody",
  "assets.getStockBrowseSnapshot": "everybody",
  "assets.browseStocks": "everybody",
  "assets.browseStocksForSelection": "everybody",
  "assets.searchForCommandPalette": "everybody",
  "assets.searchForTokens": "everybody",
  "assets.getStockHighlights": "everybody",
  "assets.getAssetDetails": "everybody",
  "assets.getAssetOverlaysBatch": "everybody",
  "assets.getTimeSeries": "everybody",

  "identity.nonce": "everybody",
  // Which tenant the session is for: one that the wallet is no member of is refused, whether or not it exists.
  "identity.signIn": "own",
  "identity.session": "own",
  "identity.signOut": "own",
  "identity.invite": "own",
  "identity.members": "own",
  "identity.removeMember": { input: ({ userId }) => ({ userId }), whose: "member", answer: Errors.ValidationFailed },
  "apiKeys.create": "own",
  "apiKeys.list": "own",
  "apiKeys.revoke": { input: ({ apiKeyId }) => ({ apiKeyId }), whose: "member" },

  "v2.portfolio.actions.submit": {
    input: ({ base, portfolioId }) => ({
      portfolioId,
      kind: "swap_backend_quote",
      params: {
        fromChainId: trade.chainId,
        fromTokenAddress: trade.sellTokenAddress,
        fromAmount: trade.sellAmount,
        toChainId: trade.chainId,
        toTokenAddress: trade.buyTokenAddress,
        toAddress: base.split(":")[2]
      }
    }),
    whose: "owner"
  },
  "v2.portfolio.actions.previewIssuerDirectQuote": {
    input: ({ base, portfolioId }) => ({ portfolioId, ...trade, recipientAddress: base.split(":")[2] }),
    whose: "owner",
    answer: Errors.IssuerUnavailable
  },

  "v2.executions.get": ofExecution,
  "v2.executions.detail": ofExecution,
  "v2.executions.result": ofExecution,
  "v2.executions.stream": ofExecution,
  "v2.executions.list": {
    input: ({ portfolioId }) => ({ portfolioId }),
    whose: "owner",
    takesKeys: true,
    isFilter: true
  },

  "v2.portfolios.list": {
    input: ({ ownerAccountId, strategyId }) => ({ ownerAccountId, strategyId }),
    whose: "owner",
    isFilter: true
  },
  "v2.portfolios.get": ofPortfolio,
  "v2.portfolios.positions": ofPortfolio,
  "v2.portfolios.performance": ofPortfolio,
  "v2.portfolios.policy": ofPortfolio,
  "v2.portfolios.previewRebalance": ofPortfolio,
  "v2.portfolios.operations.list": ofPortfolio,
  "v2.portfolios.operations.get": {
    input: ({ operationId, portfolioId }) => ({ portfolioId, operationId }),
    whose: "owner"
  },
  "v2.portfolios.start": acting,
  "v2.portfolios.stop": acting,
  "v2.portfolios.rebalance": {
    ...acting,
    input: ({ planHash, portfolioId }) => ({ portfolioId, planHash })
  }
}
