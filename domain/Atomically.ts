/** Port: runs an effect in one database transaction; nested uses join it as savepoints. No network inside. */
import { Context, type Effect } from "effect"

export class Atomically extends Context.Service<
  Atomically,
  { readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> }
>()("ballast/domain/Atomically") {}
