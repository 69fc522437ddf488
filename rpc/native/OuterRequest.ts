/**
 * The request or the socket that contains calls. The library puts the headers of each message over those of the
 * request, so that a page could write who it is into a message: origin, cookie, key. Here calls have the headers of the
 * request alone, as the browser or the proxy sent them. The library is handed a request without headers, so what it
 * passes on are a message's own, and those are read by us.
 */
import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { RpcMessage } from "effect/rpc"

type Request = HttpServerRequest.HttpServerRequest

export class OuterRequest extends Context.Service<OuterRequest, Pick<Request, "headers">>()(
  "ballast/rpc/native/OuterRequest"
) {}

/** Copies the request without headers, and with what else the library is to see of it. */
export const bareRequest = (request: Request, others: Partial<Record<"text" | "upgrade", unknown>>): Request =>
  Object.create(request, {
    headers: { value: {} },
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, { value }]))
  }) as Request

/** The one header that belongs to a call: from where its stream goes on. */
const ofCalls: ReadonlySet<string> = new Set(["last-event-id"])

/** The longest value; that of a cursor is less. */
const maxValue = 512

const isPair = (header: unknown): header is readonly [string, string] =>
  Array.isArray(header) && header.length === 2 && header.every((text) => typeof text === "string")

/** Why the headers of a message are not taken; undefined when they are. */
export const headersProblem = (headers: unknown): string | undefined => {
  if (!Array.isArray(headers) || !headers.every(isPair))
    return "headers: expected a list of pairs of a name and a value, [] for none"
  const other = headers.find(([name]) => !ofCalls.has(name.toLowerCase()))
  if (other !== undefined)
    return `headers: ${other[0].slice(0, 40)} is a header of the request, not of a message; send it with the request`
  return headers.some(([, value]) => value.length > maxValue)
    ? `headers: expected values of at most ${maxValue} characters`
    : undefined
}

/** The call as its handler is to see it: with the headers of the request, and those that belong to calls. */
export const withOuterHeaders = (message: RpcMessage.RequestEncoded) =>
  Effect.map(OuterRequest, ({ headers }): RpcMessage.RequestEncoded => ({
    ...message,
    headers: [...Object.entries(headers), ...message.headers]
  }))
