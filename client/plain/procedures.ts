/** Calls procedures over the interface's wire: `POST /v1/rpc/{procedure}`. */
import type { Procedures } from "#client/Contract.ts"
import { type Answer, fieldsOf } from "#client/transport/answers.ts"
import { type Connection, type ConnectionOptions, connectionOf } from "#client/transport/Connection.ts"
import { type ExecutionEvent, executionEvents } from "#client/transport/executionEvents.ts"
import { jsonOf, send } from "#client/transport/send.ts"

/** Procedures that answer many times. */
type Streamed = {
  readonly [Name in keyof Procedures]: Procedures[Name]["answers"] extends "stream" ? Name : never
}[keyof Procedures]
/** Procedures that answer once. */
export type ProcedureName = Exclude<keyof Procedures, Streamed>

/** What a procedure takes; nothing for those that take none. */
type Input<Name extends keyof Procedures> = undefined extends Procedures[Name]["input"]
  ? readonly [input?: Procedures[Name]["input"]]
  : readonly [input: Procedures[Name]["input"]]

/**
 * How each is called: a `read` changes nothing and is sent again when a failure may pass; an `action` has its input in
 * `input` and nothing around its answer. `test/client/procedures.test.ts` holds the table against the contract.
 */
export const kinds: Readonly<Record<keyof Procedures, "read" | "call" | "action" | "stream">> = {
  "cryptoMarketData.getNews": "read",
  "cryptoMarketData.getMarketQuotes": "read",
  "cryptoMarketData.getGlobal": "read",
  "cryptoMarketData.getMarketThemes": "read",
  "cryptoMarketData.getTrending": "read",
  "cryptoMarketData.getTopMovers": "read",
  "cryptoMarketData.getAssetPlatforms": "read",
  "cryptoMarketData.getCoinCategories": "read",
  "assets.browseAssets": "read",
  "assets.getStockBrowseSnapshot": "read",
  "assets.browseStocks": "read",
  "assets.browseStocksForSelection": "read",
  "assets.searchForCommandPalette": "read",
  "assets.searchForTokens": "read",
  "assets.getStockHighlights": "read",
  "assets.getAssetDetails": "read",
  "assets.getAssetOverlaysBatch": "read",
  "assets.getTimeSeries": "read",
  "identity.nonce": "call",
  "identity.signIn": "call",
  "identity.session": "call",
  "identity.signOut": "call",
  "identity.invite": "call",
  "identity.members": "call",
  "identity.removeMember": "call",
  "apiKeys.create": "call",
  "apiKeys.list": "call",
  "apiKeys.revoke": "call",
  "v2.portfolio.actions.submit": "action",
  "v2.portfolio.actions.previewIssuerDirectQuote": "action",
  "v2.portfolios.list": "read",
  "v2.portfolios.get": "read",
  "v2.portfolios.positions": "read",
  "v2.portfolios.performance": "read",
  "v2.portfolios.policy": "read",
  "v2.portfolios.operations.list": "read",
  "v2.portfolios.operations.get": "read",
  "v2.portfolios.previewRebalance": "call",
  "v2.portfolios.start": "call",
  "v2.portfolios.stop": "call",
  "v2.portfolios.rebalance": "call",
  "v2.executions.get": "read",
  "v2.executions.detail": "read",
  "v2.executions.result": "read",
  "v2.executions.list": "read",
  "v2.executions.stream": "stream"
}

export interface ConnectProceduresOptions extends ConnectionOptions {
  /** A wallet session's token, as `identity.signIn` answers it. */
  readonly token?: string
}

export interface PlainProcedures {
  /** Fails with a `BallastError`, also where the input is not valid or the service has a fault. */
  readonly call: <Name extends ProcedureName>(name: Name, ...input: Input<Name>) => Promise<Procedures[Name]["output"]>
  /** Follows a stream across connections that end. Leaving the loop ends the call. */
  readonly stream: <Name extends Streamed>(
    name: Name,
    ...input: Input<Name>
  ) => AsyncIterable<Procedures[Name]["output"]>
  /** The procedures, called with this session's token. */
  readonly as: (token: string) => PlainProcedures
}

const pathOf = (name: keyof Procedures) => `/v1/rpc/${encodeURIComponent(name)}`

const bodyOf = (name: keyof Procedures, input: unknown): string =>
  jsonOf({ [kinds[name] === "action" ? "input" : "json"]: input }, "input")

/** What is in an answer, in the form of its procedure; undefined where it is an error. */
const outputIn = (name: keyof Procedures, body: unknown): unknown => {
  const { data } = fieldsOf(fieldsOf(body)["result"])
  return kinds[name] === "action" ? data : fieldsOf(data)["json"]
}

const plain = (connection: Connection, options: ConnectProceduresOptions): PlainProcedures => ({
  call: async (name, ...[input]) => {
    const read = ({ body, status }: Answer) =>
      status < 300 && "result" in fieldsOf(body) ? { output: outputIn(name, body) } : undefined
    const request = { method: "POST", path: pathOf(name), body: bodyOf(name, input), isSafe: kinds[name] === "read" }
    return (await send(connection, request, read)).output as Procedures[typeof name]["output"]
  },
  stream: (name, ...[input]) => {
    const following = { connection, method: "POST", path: pathOf(name), body: bodyOf(name, input) } as const
    const { lastEventId: after } = input ?? {}
    return executionEvents({ ...following, after }, (data) => outputIn(name, data) as ExecutionEvent)
  },
  as: (token) => connectProcedures({ ...options, token })
})

/** Connects nothing yet; the first call does. */
export const connectProcedures = (options: ConnectProceduresOptions): PlainProcedures => {
  const { token, ...own } = options
  const secrets = token === undefined ? {} : { token: { header: "authorization", value: token, scheme: "Bearer " } }
  return plain(connectionOf(own, secrets), options)
}
