/**
 * `ballast/client`: the API's two faces. `makeClient` is the Effect client, derived from the contract. `connect` is the
 * plain one: promises, async iterators and one class of errors.
 *
 * ```ts
 * import { connect } from "ballast/client"
 *
 * const ballast = connect({ baseUrl: "https://api.ballast.example", apiKey: process.env.BALLAST_KEY! })
 * for await (const portfolio of ballast.portfolios.list()) console.log(portfolio.portfolioId)
 * ```
 */
export { AccountId, AssetId, ChainId, WalletId } from "#domain/Caip.ts"
export { FlowId, OperationId, PortfolioId, StrategyId, WebhookId } from "#domain/Ids.ts"
export * from "#http/client/client.ts"
export { tenantEvents } from "#client/tenantEvents.ts"
export { BallastError, type ErrorCode } from "#client/plain/BallastError.ts"
export type { CallOptions, ConnectOptions } from "#client/plain/Call.ts"
export { type Ballast, connect } from "#client/plain/connect.ts"
export type { Page, Pages } from "#client/plain/pages.ts"
