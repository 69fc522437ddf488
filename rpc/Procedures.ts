/**
 * All procedures of the API over its two wires: the interface's, a route for each procedure, and Effect's own RPC at
 * `/v1/rpc`. Needs the domain's services and the operator's token.
 */
import { Layer } from "effect"
import { type Rpc, type RpcGroup, RpcSerialization } from "effect/rpc"
import { RequestSession } from "#domain/identity/access/RequestSession.ts"
import { AnswerDeadlines } from "#domain/request/AnswerDeadlines.ts"
import type { RefusedRequests } from "#domain/request/RefusedRequests.ts"
import { DescribedProcedures } from "#http/docs/DescribedProcedures.ts"
import { ActionsLive } from "#rpc/ActionsLive.ts"
import { AdminAccessLive } from "#rpc/AdminAccessLive.ts"
import { CallLog } from "#rpc/CallLog.ts"
import { ApiKeysLive } from "#rpc/ApiKeysLive.ts"
import { AssetsLive } from "#rpc/AssetsLive.ts"
import { type clientGroups, ClientProcedures } from "#rpc/ClientProcedures.ts"
import { CryptoMarketDataLive } from "#rpc/CryptoMarketDataLive.ts"
import { countedProtocol } from "#rpc/native/countedProtocol.ts"
import { DatabaseInReachLive } from "#rpc/DatabaseInReach.ts"
import { ExecutionsLive } from "#rpc/execution/ExecutionsLive.ts"
import { describeProcedures } from "#rpc/describeProcedures.ts"
import { IdentityLive } from "#rpc/IdentityLive.ts"
import { jsonWire, procedureEnvelope, type ProcedureRoute, routesOf } from "#rpc/jsonWire.ts"
import { MarketDataStreamProcedures } from "#rpc/MarketDataStream.ts"
import { nativeServer } from "#rpc/native/NativeServer.ts"
import { SeenCallLive } from "#rpc/native/SeenCall.ts"
import { boundedFrames, socketProtocol } from "#rpc/native/socketProtocol.ts"
import { MarketDataStreamLive } from "#rpc/MarketDataStreamLive.ts"
import { PortfoliosLive } from "#rpc/portfolio/PortfoliosLive.ts"
import { ExecutionAccessLive } from "#rpc/session/ExecutionAccessLive.ts"
import { PresentedAccessLive } from "#rpc/session/PresentedAccessLive.ts"
import { SessionAccessLive } from "#rpc/session/SessionAccessLive.ts"
import { ValidInput } from "#rpc/input/ValidInput.ts"

const nativePath = "/v1/rpc"

const NativeWire = nativeServer(ClientProcedures).pipe(
  Layer.provide(countedProtocol(nativePath)),
  Layer.provide(RpcSerialization.layerNdjson)
)

/** Serves the procedures over sockets: a layer of its own, as a server has one protocol. */
const NativeSockets = nativeServer(ClientProcedures).pipe(
  Layer.provide(socketProtocol(nativePath)),
  Layer.provide(boundedFrames)
)

/** Every route of this layer by its method and path. */
export const procedureRoutes: ReadonlyArray<ProcedureRoute> = [
  ["POST", nativePath, procedureEnvelope],
  ["GET", nativePath, procedureEnvelope],
  ...routesOf(MarketDataStreamProcedures),
  ...routesOf(ClientProcedures)
]

/** Everything below is answered in `procedureEnvelope`, where it is no procedure too. */
export const belowProcedures = `${nativePath}/`

/** What the published descriptions say of them. */
export const procedureDescriptions = Layer.succeed(DescribedProcedures, [
  ...describeProcedures(ClientProcedures),
  ...describeProcedures(MarketDataStreamProcedures)
])

/** A group that has no handlers, and one whose handlers are those of another, is an error of the compiler. */
type HandlersOf<Groups> = {
  readonly [Name in keyof Groups]: Layer.Layer<Rpc.ToHandler<RpcGroup.Rpcs<Groups[Name]>>, unknown, unknown>
}

/** The handlers of each group of `ClientProcedures.ts`, by its name. */
const handlers = {
  cryptoMarketData: CryptoMarketDataLive,
  assets: AssetsLive,
  identity: IdentityLive,
  apiKeys: ApiKeysLive,
  actions: ActionsLive,
  executions: ExecutionsLive,
  portfolios: PortfoliosLive
} satisfies HandlersOf<typeof clientGroups>
type ClientHandlers = (typeof handlers)[keyof typeof handlers]

const Handlers = Layer.mergeAll(
  ...(Object.values(handlers) as [ClientHandlers, ...Array<ClientHandlers>]),
  ExecutionAccessLive,
  PresentedAccessLive,
  SessionAccessLive,
  Layer.succeed(ValidInput, (handled) => handled),
  DatabaseInReachLive
).pipe(Layer.provide(RequestSession.layer))
/** The services of the domain that the procedures of clients call, and where their refusals are kept. */
export type ProcedureServices = Layer.Services<typeof Handlers> | RefusedRequests

const OperatorHandlers = Layer.merge(MarketDataStreamLive, AdminAccessLive)

export const ProcedureRoutes = Layer.mergeAll(
  jsonWire(MarketDataStreamProcedures).pipe(Layer.provide(OperatorHandlers)),
  Layer.mergeAll(
    jsonWire(ClientProcedures),
    Layer.merge(NativeWire, NativeSockets).pipe(Layer.provide(SeenCallLive))
  ).pipe(Layer.provide(Handlers), Layer.provide(AnswerDeadlines.layer))
).pipe(Layer.provide(CallLog.layer))
