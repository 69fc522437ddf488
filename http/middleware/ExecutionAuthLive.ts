import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { ExecutionReader } from "#domain/execution/ExecutionReader.ts"
import { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import { makeCountRequest } from "#domain/request/countRequest.ts"
import { ExecutionAuth } from "#http/middleware/ExecutionAuth.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { RateTier } from "#domain/request/RateTier.ts"

type Authenticated = ReturnType<ExecutionAuth["Service"]>

export const ExecutionAuthLive = Layer.effect(
  ExecutionAuth,
  Effect.gen(function* () {
    const readers = yield* ExecutionReaders
    const countIn = yield* makeCountRequest

    return ExecutionAuth.of((httpEffect, { endpoint }) => {
      const count = countIn(Context.get(endpoint.annotations, RateTier))
      const handled = httpEffect as Effect.Effect<Effect.Success<typeof httpEffect>, Effect.Error<typeof httpEffect>>

      return Effect.withFiber((fiber): Authenticated => {
        const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const context = Context.get(fiber.context as Context.Context<RequestContext>, RequestContext)
        return Effect.flatMapEager(readers.identify(headers, context.address), (reader): Authenticated => {
          // Set, not provided: the route restores the context when it ends. The type above records that it is done.
          fiber.setContext(Context.add(fiber.context, ExecutionReader, reader))
          return count(fiber, reader, handled)
        })
      })
    })
  })
)
