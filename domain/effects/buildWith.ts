/**
 * Builds a layer in a context that holds only the named services.
 *
 * Each request merges the context that its handlers were built in, entry by entry. Built among all services of the
 * process that costs more than the rest of the request, and the handlers need a handful.
 */
import { Context, Effect, Layer, Scope } from "effect"

export const buildWith =
  <const Keys extends ReadonlyArray<Context.Key<unknown, unknown>>>(...keys: Keys) =>
  <A, E>(layer: Layer.Layer<A, E, Context.Service.Identifier<Keys[number]>>): typeof layer =>
    Layer.effectContext(
      Effect.contextWith((context: Context.Context<Context.Service.Identifier<Keys[number]> | Scope.Scope>) =>
        Effect.setContext(
          Layer.build(layer),
          Context.pick(...keys, Scope.Scope, Layer.CurrentMemoMap)(context) as typeof context
        )
      )
    )
