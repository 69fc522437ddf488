import { Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { clientAddress } from "#domain/clientAddress.ts"
import { ExecutionReader } from "#domain/execution/ExecutionReader.ts"
import { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import { ExecutionAccess } from "#rpc/session/ExecutionAccess.ts"

/** Of the request that carries the call. */
const address = Effect.map(Effect.serviceOption(HttpServerRequest.HttpServerRequest), (request) =>
  clientAddress(Option.getOrUndefined(Option.flatMap(request, ({ remoteAddress }) => remoteAddress)))
)

export const ExecutionAccessLive = Layer.effect(
  ExecutionAccess,
  Effect.map(ExecutionReaders, (readers) =>
    ExecutionAccess.of((handled, { headers }) =>
      Effect.flatMap(address, (from) =>
        Effect.flatMap(readers.identify(headers, from), (reader) =>
          Effect.provideService(handled, ExecutionReader, reader)
        )
      )
    )
  )
)
