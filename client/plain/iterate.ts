/** An Effect stream over HTTP as an async iterator; leaving the loop closes the connection. */
import { Redacted, Stream } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { fromFailure } from "#client/plain/BallastError.ts"
import type { ConnectOptions } from "#client/plain/Call.ts"

/** Options of the Effect client. */
export const accountOf = ({ apiKey, baseUrl }: ConnectOptions) => ({
  baseUrl: baseUrl.replace(/\/+$/u, ""),
  apiKey: Redacted.make(apiKey)
})

export const iterate = <A, E>(
  stream: Stream.Stream<A, E, HttpClient.HttpClient>,
  { fetch }: ConnectOptions
): AsyncIterable<A> => {
  const served = stream.pipe(Stream.mapError(fromFailure), Stream.provide(FetchHttpClient.layer))
  return Stream.toAsyncIterable(
    fetch === undefined ? served : Stream.provideService(served, FetchHttpClient.Fetch, fetch)
  )
}
