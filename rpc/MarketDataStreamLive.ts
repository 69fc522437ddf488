import { Effect } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { Internal, ValidationFailed } from "#domain/errors/Errors.ts"
import { MarketDataStream, type MarketDataStreamFailed } from "#domain/stream/MarketDataStream.ts"
import { MarketDataStreamProcedures } from "#rpc/MarketDataStream.ts"

const explained = <A>(asked: Effect.Effect<A, MarketDataStreamFailed>) =>
  Effect.mapError(asked, ({ isOurs, reason }) =>
    isOurs ? new Internal({ message: reason }) : new ValidationFailed({ message: reason })
  )

export const MarketDataStreamLive = MarketDataStreamProcedures.toLayer(
  Effect.gen(function* () {
    const stream = yield* MarketDataStream
    return {
      "marketDataStream.adminStatus": () => explained(stream.status),
      "marketDataStream.adminConnectProvider": ({ provider }) => explained(stream.connect(provider)),
      "marketDataStream.adminDisconnectProvider": ({ provider }) => explained(stream.disconnect(provider))
    }
  })
).pipe(buildWith(MarketDataStream))
