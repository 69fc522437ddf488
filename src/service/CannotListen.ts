/** A process has no address to answer at, most often because another program has its port. */
import { Effect, Layer, Schema } from "effect"
import type { ServeError } from "effect/http/HttpServerError"

export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  /** What the process is called, and the variable of its port. */
  name: Schema.String,
  setting: Schema.String,
  host: Schema.String,
  port: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.name} cannot listen on ${this.host}:${this.port}: ${reason}. Stop the program that has the port, or set ${this.setting} (and HOST) to an address that is free`
  }
}

/** The server, or why it has no address. */
export const listeningOn =
  (host: string, port: number, name = "The API", setting = "PORT") =>
  <A, R>(server: Layer.Layer<A, ServeError, R>): Layer.Layer<A, CannotListen, R> =>
    Layer.catchTag(server, "ServeError", ({ cause }) =>
      Layer.effectContext(Effect.fail(new CannotListen({ name, setting, host, port, cause })))
    )
