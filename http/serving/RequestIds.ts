/**
 * Random ids of 128 bits for requests and traces, drawn from the secure source in blocks because every request needs
 * some.
 */
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"

const idLength = 32
const blockBytes = 8_192

export class RequestIds extends Context.Service<
  RequestIds,
  {
    /** 32 hex digits. */
    readonly next: () => string
  }
>()("ballast/http/serving/RequestIds") {
  static readonly layer = Layer.effect(
    RequestIds,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const drawBlock = Effect.map(random.randomBytes(blockBytes), Hex.encode)
      let block = yield* drawBlock
      let position = 0

      const next = () => {
        if (position === block.length) {
          block = Effect.runSync(drawBlock)
          position = 0
        }
        position += idLength
        return block.slice(position - idLength, position)
      }

      return RequestIds.of({ next })
    })
  )
}
