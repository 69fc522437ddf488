/** The API has no address to answer at, most often because another program has its port. */
import { Effect, Layer, Schema } from "effect"
import type { ServeError } from "effect/http/HttpServerError"

export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  host: Schema.String,
  port: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The API cannot listen on ${this.host}:${this.port}: ${reason}. Stop the program that has the port, or set PORT (and HOST) to an address that is free`
  }
}

/** The server, or why it has no address. */
export const listeningOn =
  (host: string, port: number) =>
  <A, R>(server: Layer.Layer<A, ServeError, R>): Layer.Layer<A, CannotListen, R> =>
    Layer.catchTag(server, "ServeError", ({ cause }) =>
      Layer.effectContext(Effect.fail(new CannotListen({ host, port, cause })))
    )
