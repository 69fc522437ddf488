/**
 * JSON-RPC over HTTP as a transport of viem: one request, one answer, bounded in time and in size.
 *
 * viem's own writes a request's body three times: to be sent, to be read before, and for the message of a timeout
 * that does not come. A body here may be of hundreds of kilobytes.
 *
 * A redirect is not followed, as it would send the key in the URL and the request to another host.
 */
import { Option, Schema } from "effect"
import { Agent, type Dispatcher, errors, request as send } from "undici"
import {
  BaseError,
  createTransport,
  type EIP1193RequestFn,
  HttpRequestError,
  ResponseBodyTooLargeError,
  RpcRequestError,
  type Transport
} from "viem"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"

/** Time from the request to the first byte of the answer. */
const beginsWithinMillis = 5_000
/** Time from the request to the last byte of the answer. */
const endsWithinMillis = 8_000
/** Most bytes of one answer, also when it came compressed; the logs of 2,000 blocks are the largest. */
export const maxAnswerBytes = 8 * 1024 * 1024

/** What came is no JSON-RPC. */
export class UnreadableAnswer extends BaseError {
  constructor() {
    super("the answer could not be read", { name: "UnreadableAnswer" })
  }
}

const Answer = Schema.Union([
  Schema.Struct({
    error: Schema.Struct({ code: Schema.Number, message: Schema.String, data: Schema.optional(Schema.Unknown) })
  }),
  Schema.Struct({ result: Schema.Unknown })
])
const decodeAnswer = Schema.decodeUnknownOption(Schema.fromJsonString(Answer))

const agent = new Agent({ maxResponseSize: maxAnswerBytes })

interface Endpoint {
  readonly url: string
  /** What an error may name of it. */
  readonly host: string
  readonly headers: Readonly<Record<string, string>>
}

interface Call {
  readonly method: string
  readonly params?: unknown
}

/** Name and password in a URL are sent as a header. */
const endpointOf = (text: string): Endpoint => {
  const url = new URL(text)
  const [name, password] = [url.username, url.password].map(decodeURIComponent)
  url.username = url.password = ""
  const headers = { "content-type": "application/json", "accept-encoding": "gzip" }
  const credentials = Buffer.from(`${name}:${password}`).toString("base64")
  return {
    url: url.toString(),
    host: url.host,
    headers: name === "" && password === "" ? headers : { ...headers, authorization: `Basic ${credentials}` }
  }
}

const unpack = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(gunzip)

const isTooLarge = (cause: unknown): boolean =>
  cause instanceof errors.ResponseExceededMaxSizeError ||
  (cause instanceof RangeError && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE")

const textOf = async ({ body, headers }: Dispatcher.ResponseData): Promise<string> => {
  if (headers["content-encoding"] !== "gzip") return body.text()
  const packed = Buffer.from(await body.arrayBuffer())
  const unpacked = await unpack(packed, { maxOutputLength: maxAnswerBytes }).catch((cause: unknown) => {
    throw isTooLarge(cause) ? cause : new UnreadableAnswer()
  })
  return unpacked.toString("utf8")
}

let lastId = 0

/** Fails with a `TimeoutError` when the answer does not begin, or does not end, in time. */
const post = async ({ headers, url }: Endpoint, call: Call) => {
  const limit = new AbortController()
  const late = () => limit.abort(new DOMException("No answer in time", "TimeoutError"))
  const [begin, end] = [setTimeout(late, beginsWithinMillis), setTimeout(late, endsWithinMillis)]
  try {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++lastId, ...call })
    const answer = await send(url, { dispatcher: agent, method: "POST", headers, body, signal: limit.signal })
    clearTimeout(begin)
    return { status: answer.statusCode, headers: answer.headers, text: await textOf(answer) }
  } finally {
    clearTimeout(begin)
    clearTimeout(end)
  }
}

const failureOf = (cause: unknown, url: string): BaseError => {
  if (cause instanceof BaseError) return cause
  return isTooLarge(cause)
    ? new ResponseBodyTooLargeError({ maxSize: maxAnswerBytes, size: maxAnswerBytes })
    : new HttpRequestError({ url, cause: cause instanceof Error ? cause : new Error("No answer") })
}

/** A node's own error is a `RpcRequestError`, whatever the status. No error quotes the URL, which may contain a key. */
const askFor = async (endpoint: Endpoint, { method, params }: Call): Promise<unknown> => {
  const { host: url } = endpoint
  const { headers, status, text } = await post(endpoint, { method, params }).catch((cause: unknown) => {
    throw failureOf(cause, url)
  })
  const answer = Option.getOrUndefined(decodeAnswer(text))
  if (answer !== undefined && "error" in answer)
    throw new RpcRequestError({ body: { method }, error: answer.error, url })
  if (status < 200 || status >= 300) {
    const retryAfter = new Headers({ "retry-after": String(headers["retry-after"] ?? "") })
    throw new HttpRequestError({ body: { method }, headers: retryAfter, status, url })
  }
  if (answer === undefined) throw new UnreadableAnswer()
  return answer.result
}

/** `retryCount`: how often a request is repeated when it fails. */
export const jsonRpcOverHttp = (url: string, retryCount: number): Transport => {
  const endpoint = endpointOf(url)
  const request = (call: Call) => askFor(endpoint, call)
  return () =>
    createTransport({
      key: "http",
      name: "JSON-RPC over HTTP",
      type: "http",
      retryCount,
      request: request as EIP1193RequestFn
    })
}
