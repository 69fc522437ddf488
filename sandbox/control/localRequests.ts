/**
 * Only programs of this machine may use the control server. A page of another site that a browser shows could otherwise
 * send requests to it, under its own origin or under a name that was made to point at this machine (DNS rebinding).
 */
import { Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { ControlRefusal, refusalResponse } from "#sandbox/control/answers.ts"

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

const hostnameOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined)

const isLocal = (hostname: string | undefined): boolean => hostname !== undefined && loopback.has(hostname)

/** What is wrong with a request from elsewhere; none when it is from this machine. */
export const foreignRequest = (headers: {
  readonly [name: string]: string | undefined
}): Option.Option<ControlRefusal> => {
  const { host, origin } = headers
  if (!isLocal(hostnameOf(`http://${host ?? ""}`))) {
    return Option.some(
      new ControlRefusal({ status: 403, message: "The Host header names another machine; use 127.0.0.1 or localhost" })
    )
  }
  if (origin === undefined || isLocal(hostnameOf(origin))) return Option.none()
  return Option.some(
    new ControlRefusal({
      status: 403,
      message: "Pages of other sites may not use the sandbox; serve yours from localhost"
    })
  )
}

/** Around every route of the server. */
export const localRequests = HttpRouter.middleware(
  (answer) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
      Option.match(foreignRequest(headers), {
        onNone: () => answer,
        onSome: (refusal) => Effect.succeed(refusalResponse(refusal))
      })
    ),
  { global: true }
)
