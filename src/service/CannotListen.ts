/** A process has no address to answer at, most often because another program has its port. */
import { Effect, Layer, Schema } from "effect"
import type { ServeError } from "effect/http/HttpServerError"

class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
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

interface Address {
  readonly host: string
  readonly port: number
}

/** The listening server: its name for people, and the variable of its port. */
interface Listener {
  readonly name: string
  readonly setting: string
}

const api: Listener = { name: "The API", setting: "PORT" }

/** The server, or why it has no address; of the API when no other listener is named. */
export const listeningOn =
  ({ host, port }: Address, { name, setting }: Listener = api) =>
  <A, R>(server: Layer.Layer<A, ServeError, R>): Layer.Layer<A, CannotListen, R> =>
    Layer.catchTag(server, "ServeError", ({ cause }) =>
      Layer.effectContext(Effect.fail(new CannotListen({ name, setting, host, port, cause })))
    )
