/** Serves a contract by the handlers of its groups. */
import { Layer } from "effect"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"

/**
 * A layer of handlers for each group of a contract, by the group's identifier. A group that has none, and one whose
 * handlers are those of another, is an error of the compiler that names it.
 */
export type HandlersOf<ApiId extends string, Groups extends HttpApiGroup.Constraint> = {
  readonly [Group in Groups as Group["identifier"]]: Layer.Layer<
    HttpApiGroup.Service<ApiId, Group["identifier"]>,
    unknown,
    unknown
  >
}

type Values<Handlers> = Extract<Handlers[keyof Handlers], Layer.Layer<never, unknown, unknown>>

export const serveGroups = <
  ApiId extends string,
  Groups extends HttpApiGroup.Constraint,
  const Handlers extends HandlersOf<ApiId, Groups>
>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  handlers: Handlers
) => {
  const [first, ...others] = Object.values(handlers) as [Values<Handlers>, ...ReadonlyArray<Values<Handlers>>]
  const merged = Layer.mergeAll(first, ...others) as Layer.Layer<
    HttpApiGroup.ToService<ApiId, Groups>,
    Layer.Error<Values<Handlers>>,
    Layer.Services<Values<Handlers>>
  >
  return HttpApiBuilder.layer(api).pipe(Layer.provide(merged))
}
