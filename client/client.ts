/**
 * `ballast/client`: the API, plain: promises, async iterators and one class of errors. It needs no other package.
 *
 * ```ts
 * import { connect } from "ballast/client"
 *
 * const ballast = connect({ baseUrl: "https://api.ballast.example", apiKey: process.env.BALLAST_KEY! })
 * for await (const portfolio of ballast.portfolios.list()) console.log(portfolio.portfolioId)
 * ```
 */
export type { CallOptions, ConnectOptions } from "#client/plain/Call.ts"
export { type Ballast, connect } from "#client/plain/connect.ts"
export type { Page, Pages } from "#client/plain/pages.ts"
export { BallastError, type ErrorCode } from "#client/transport/BallastError.ts"
export type { ExecutionEvent } from "#client/transport/executionEvents.ts"
