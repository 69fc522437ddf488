import { NodeHttpServerRequest } from "@effect/platform-node"
import { Duration, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { FaultMode } from "#sandbox/Faults.ts"

/** How a provider words its own errors. */
export interface FaultAnswers {
  readonly error: HttpServerResponse.HttpServerResponse
  readonly rateLimited: HttpServerResponse.HttpServerResponse
}

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
    case "drop-next":
      return Effect.andThen(answer, disconnect)
    default:
      return answer
  }
}
