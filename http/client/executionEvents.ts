/**
 * Follows an operation from a program or a browser, part of `ballast-effect`: a snapshot, then each event once and in
 * order, until its result or error. A connection that ends is opened again after the last event, on whichever process
 * answers.
 *
 * ```ts
 * yield* executionEvents({ baseUrl, apiKey }, operationId).pipe(
 *   Stream.runForEach(({ kind, payload }) => Console.log(kind, payload))
 * )
 * ```
 *
 * Fails with the class of the API error when the key, the session or the operation is refused, and with the last
 * transport error after eight attempts in a row that came to nothing. Needs an `HttpClient`.
 */
import { Effect, type Redacted, Schema, Stream } from "effect"
import { HttpApiClient } from "effect/http-api"
import type { OperationId } from "#domain/values/Ids.ts"
import { apiKeyClientLayer, sessionClientLayer } from "#http/client/apiKeyClientLayer.ts"
import { V1 } from "#http/v1/Api.ts"
import { ExecutionEvent } from "#http/execution/ExecutionEvent.ts"
import { framesOf, reconnecting } from "#http/client/reconnecting.ts"

export interface FollowOptions {
  /** Resumes after this event; `fromTheBeginning` for all, left out for what happens from now on. */
  readonly lastEventId?: string
}

/** An API key, or the token of a wallet session. */
export type Credential =
  | { readonly apiKey: Redacted.Redacted<string>; readonly token?: undefined }
  | { readonly apiKey?: undefined; readonly token: Redacted.Redacted }

/** Value of `lastEventId` from which the whole history follows. */
export const fromTheBeginning = "0-0"

const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(ExecutionEvent))

/** Stands for a stream that by the server has been seen whole. */
const seen = "seen"

const isEnd = (event: ExecutionEvent | typeof seen): boolean =>
  event === seen || event.kind === "execution.result" || event.kind === "execution.error"

export const executionEvents = (
  { baseUrl, ...credential }: { readonly baseUrl: string } & Credential,
  operationId: OperationId,
  options: FollowOptions = {}
) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const signed =
        credential.token === undefined ? apiKeyClientLayer(credential.apiKey) : sessionClientLayer(credential.token)
      const api = yield* HttpApiClient.make(V1, { baseUrl }).pipe(Effect.provide(signed))
      let { lastEventId } = options
      let sequence = -1

      /** The server repeats a snapshot on each connection; a follower has its own state by then. */
      const isNews = (event: ExecutionEvent): boolean =>
        event.kind === "execution.snapshot" ? sequence === -1 : event.sequence > sequence

      const note = (event: ExecutionEvent) => {
        sequence = event.sequence
        lastEventId = event.cursor
      }

      const events = reconnecting(
        Effect.fnUntraced(function* (wish) {
          const [, response] = yield* api.executions.streamExecution({
            params: { operationId },
            headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
            responseMode: "decoded-and-response"
          })
          if (response.status === 204) return Stream.succeed<ExecutionEvent | typeof seen>(seen)
          return framesOf(response, wish).pipe(
            Stream.mapEffect(({ data }) => decodeEvent(data)),
            Stream.filter(isNews),
            Stream.tap((event) => Effect.sync(() => note(event)))
          )
        })
      )
      return events.pipe(
        Stream.takeUntil(isEnd),
        Stream.filter((event): event is ExecutionEvent => event !== seen)
      )
    })
  )
