import { Effect, Layer } from "effect"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { buildWith } from "#domain/effects/buildWith.ts"
import { ExecutionReader } from "#domain/execution/ExecutionReader.ts"
import { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import { callAddress } from "#rpc/session/callAddress.ts"
import { makeCountCall } from "#rpc/session/countCall.ts"
import { ExecutionAccess } from "#rpc/session/ExecutionAccess.ts"

export const ExecutionAccessLive = Layer.effect(
  ExecutionAccess,
  Effect.gen(function* () {
    const readers = yield* ExecutionReaders
    const countIn = yield* makeCountCall

    return ExecutionAccess.of((handled, { headers, rpc }) =>
      Effect.withFiber((fiber) =>
        Effect.flatMap(readers.identify(headers, callAddress(fiber)), (reader) =>
          countIn(rpc)(reader.credential, Effect.provideService(handled, ExecutionReader, reader))
        )
      )
    )
  })
).pipe(buildWith(ExecutionReaders, RateLimits))
