import { NodeHttpServerRequest } from "@effect/platform-node"
import { Duration, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { FaultMode } from "#sandbox/faults/Faults.ts"

/** How a provider words its own errors. */
export interface FaultAnswers {
  readonly error: HttpServerResponse.HttpServerResponse
  readonly rateLimited: HttpServerResponse.HttpServerResponse
  /** 401, where the provider has words of its own for it. */
  readonly unauthorized?: HttpServerResponse.HttpServerResponse
  /** 403, likewise. */
  readonly forbidden?: HttpServerResponse.HttpServerResponse
}

const refusal = (status: number) => HttpServerResponse.jsonUnsafe({ error: "refused" }, { status })

/** The first half of an answer, as if the provider had sent no more. */
const halved = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.body._tag === "Uint8Array"
    ? HttpServerResponse.uint8Array(response.body.body.slice(0, Math.floor(response.body.body.length / 2)), {
        status: response.status,
        contentType: "application/json"
      })
    : response

const slowness = Duration.seconds(3)

/** Ends the connection without an answer. The request's fiber ends with it. */
const disconnect = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
  NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
  return Effect.never
})

/** Answers a request in the given mode; `answer` does the real work. */
export const withFaults = <E, R>(
  mode: FaultMode,
  answers: FaultAnswers,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> => {
  switch (mode) {
    case "ok":
      return answer
    case "down":
      return disconnect
    case "slow":
      return Effect.delay(answer, slowness)
    case "error":
      return Effect.succeed(answers.error)
    case "rate-limited":
      return Effect.succeed(HttpServerResponse.setHeader(answers.rateLimited, "retry-after", "1"))
    case "unauthorized":
      return Effect.succeed(answers.unauthorized ?? refusal(401))
    case "forbidden":
      return Effect.succeed(answers.forbidden ?? refusal(403))
    case "truncated":
      return Effect.map(answer, halved)
    case "drop-next":
      return Effect.andThen(answer, disconnect)
    default:
      return answer
  }
}
