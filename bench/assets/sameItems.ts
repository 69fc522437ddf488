/**
 * A comparison counts only where both answer the same items. The peer leaves out restrictions and the cache's state.
 */
import { Effect, Schema } from "effect"
import { deepStrictEqual } from "node:assert"
import type { Server } from "#bench/http/Server.ts"

class ItemsDiffer extends Schema.TaggedError<ItemsDiffer>()("ItemsDiffer", { message: Schema.String }) {}

const Answer = Schema.Struct({
  result: Schema.Struct({ data: Schema.Struct({ json: Schema.Struct({ items: Schema.Array(Schema.Unknown) }) }) })
})

const itemsOf = (server: Server, path: string) =>
  Effect.flatMap(
    Effect.promise(async () => (await fetch(`${server.baseUrl}${path}`)).json() as Promise<unknown>),
    (body) => Effect.map(Schema.decodeUnknownEffect(Answer)(body), ({ result }) => result.data.json.items)
  )

export const requireSameItems = Effect.fnUntraced(function* (
  name: string,
  { peer, service }: { readonly service: Server; readonly peer: Server },
  paths: ReadonlyArray<string>
) {
  for (const path of paths) {
    const [ours, theirs] = [yield* itemsOf(service, path), yield* itemsOf(peer, path)]
    yield* Effect.try({
      try: () => deepStrictEqual(theirs, ours),
      catch: (error) => new ItemsDiffer({ message: `${name} ${path}: ${String(error).slice(0, 600)}` })
    })
  }
})
