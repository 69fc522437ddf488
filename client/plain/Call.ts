/** Calls any endpoint of the contract with plain JSON and answers its `data`. The service reads and refuses. */
import type { Endpoints } from "#client/Contract.ts"
import { type Answer, fieldsOf } from "#client/transport/answers.ts"
import { notSent } from "#client/transport/BallastError.ts"
import { type Connection, type ConnectionOptions, connectionOf } from "#client/transport/Connection.ts"
import { jsonOf, send } from "#client/transport/send.ts"
import { endpoints } from "#client/plain/endpoints.ts"

export interface ConnectOptions extends Omit<ConnectionOptions, "credentials"> {
  readonly apiKey: string
}

export interface CallOptions {
  /** Makes a POST that creates safe to send again; 1 to 255 visible ASCII characters. */
  readonly idempotencyKey?: string
  /** Aborting it makes the call fail with its reason. */
  readonly signal?: AbortSignal
  /** Overrides the connection's limit of time. */
  readonly timeoutSeconds?: number
}

/** Names are the document's operation ids. */
export type EndpointName = keyof Endpoints

/** Texts of a query may be given as numbers. */
type QueryOf<Query> = {
  readonly [K in keyof Query]: Query[K] | (string extends Query[K] ? number : never)
}
type Part<Name extends string, Content> = [Content] extends [undefined]
  ? unknown
  : undefined extends Content
    ? { readonly [K in Name]?: Content }
    : object extends Content
      ? { readonly [K in Name]?: Content }
      : { readonly [K in Name]: Content }

/** What an endpoint is sent: `params`, `query` and `payload`, as JSON has them. */
export type RequestOf<Name extends EndpointName> = Part<"params", Endpoints[Name]["params"]> &
  Part<"query", QueryOf<Endpoints[Name]["query"]>> &
  Part<"payload", Endpoints[Name]["payload"]>

/** The body that an endpoint takes. */
export type PayloadOf<Name extends EndpointName> = NonNullable<Endpoints[Name]["payload"]>

/** The query that an endpoint takes. */
export type FilterOf<Name extends EndpointName> = QueryOf<Endpoints[Name]["query"]>

/** The whole envelope that an endpoint answers. */
export type AnswerOf<Name extends EndpointName> = Endpoints[Name]["answer"]

/** The `data` that an endpoint answers. */
export type DataOf<Name extends EndpointName> = AnswerOf<Name> extends { readonly data: infer Data } ? Data : never

type Arguments<Name extends EndpointName> = RequestOf<Name> & CallOptions

/** The contract's endpoints, each by its name. */
export interface Call {
  <Name extends EndpointName>(name: Name, request: Arguments<Name>): Promise<DataOf<Name>>
  /** The answer with its envelope, for what stands beside `data`. */
  readonly whole: <Name extends EndpointName>(name: Name, request: Arguments<Name>) => Promise<AnswerOf<Name>>
}

type Texts = Readonly<Record<string, unknown>>

const isParam = (value: unknown): value is string | number =>
  (typeof value === "string" && value !== "") || typeof value === "number"

/** The path of an endpoint: a part that is missing would lead to another one. */
const pathOf = (template: string, params: Texts): string =>
  template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    const value = params[name]
    if (!isParam(value) || /^\.+$/u.test(String(value))) throw notSent(`path.${name}: is required`)
    return encodeURIComponent(value)
  })

const queryOf = (query: Texts): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** The envelope of an answer that is no error. */
const envelopeOf = ({ body, status }: Answer) =>
  status < 300 && fieldsOf(body)["success"] === true && "data" in fieldsOf(body) ? body : undefined

const idempotencyKeyIn = (key: string | undefined) => {
  if (key === undefined) return {}
  if (!/^[!-~]{1,255}$/u.test(key)) throw notSent("idempotencyKey: Expected 1 to 255 visible ASCII characters")
  return { "idempotency-key": key }
}

/** Options of `connect` as a connection. */
export const connectionOfKey = ({ apiKey, ...options }: ConnectOptions): Connection =>
  connectionOf(options, { apiKey: { header: "x-api-key", value: apiKey } })

export const makeCall = (connection: Connection): Call => {
  const whole = async (name: EndpointName, request: Texts & CallOptions) => {
    const [method, template] = endpoints[name].split(" ") as [string, string]
    const { idempotencyKey, payload, signal, timeoutSeconds } = request
    return send(
      connection,
      {
        method,
        path: `${pathOf(template, fieldsOf(request["params"]))}${queryOf(fieldsOf(request["query"]))}`,
        headers: idempotencyKeyIn(idempotencyKey),
        body: payload === undefined ? undefined : jsonOf(payload, "body"),
        isSafe: method === "GET" || idempotencyKey !== undefined,
        signal,
        timeoutSeconds
      },
      envelopeOf
    )
  }
  const data = async (name: EndpointName, request: Texts) => fieldsOf(await whole(name, request))["data"]
  return Object.assign(data, { whole }) as unknown as Call
}
