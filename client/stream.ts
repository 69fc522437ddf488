/**
 * `ballast/stream`: market data as it comes, in a browser or in Node.
 *
 * ```ts
 * import { iterate } from "ballast/stream"
 *
 * const target = { kind: "asset", assetClass: "crypto", symbol: "ETH" } as const
 * for await (const frame of iterate({ baseUrl: "https://stream.example.com" }, target)) console.log(frame)
 * ```
 */
export type { TicketTarget } from "#client/Contract.ts"
export { iterate, type StreamFrame, type StreamOptions, StreamRefused } from "#client/stream/follow.ts"
