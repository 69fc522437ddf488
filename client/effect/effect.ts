/**
 * `ballast-effect`: the faces for programs on Effect 4, which is a peer of this entry alone. `makeClient` is the API's
 * client, derived from the contract; `makeProcedures` that of the procedures; `executionEvents` and `tenantEvents`
 * follow operations and the tenant's log, `follow` the market data.
 */
export { AccountId, AssetId, ChainId, WalletId } from "#domain/values/Caip.ts"
export { FlowId, OperationId, PortfolioId, StrategyId, WebhookId } from "#domain/values/Ids.ts"
export * from "#http/client/client.ts"
export { follow } from "#client/effect/marketData.ts"
export { tenantEvents } from "#client/effect/tenantEvents.ts"
export { type StreamFrame, type StreamOptions, StreamRefused } from "#client/stream/follow.ts"
export { layerProtocol, makeProcedures, type ProcedureOptions } from "#rpc/client.ts"
export { ClientProcedures } from "#rpc/ClientProcedures.ts"
