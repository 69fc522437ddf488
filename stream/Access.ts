/** What a path and a token together let a client follow. */
import { Context, Effect, Layer } from "effect"
import type { StreamRefusal } from "#domain/stream/SocketGate.ts"
import { nameOf, parseTopic, type Topic } from "#domain/stream/Topic.ts"
import { noSuchTopic, tokenMissing, topicNotAllowed } from "#stream/refusals.ts"
import { Tickets } from "#stream/Tickets.ts"

export interface Followed {
  readonly topic: Topic
  readonly symbols: ReadonlyArray<string>
}

/** The topic that `/v1/assets/...` or `/v1/collections/...` names, without the last part. */
const topicOfPath = (parts: ReadonlyArray<string>): Topic | undefined => {
  const [version, kind, ...names] = parts
  if (version !== "v1") return undefined
  if (kind === "assets" && names.length === 4) {
    const [assetClass, symbol = "", feedKind, resolution] = names
    return parseTopic(`asset:${assetClass}:${symbol.toUpperCase()}:${feedKind}:${resolution}`)
  }
  return kind === "collections" && names.length === 2 ? parseTopic(`collection:${names.join(":")}`) : undefined
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return ""
  }
}

export class Access extends Context.Service<
  Access,
  {
    /** `path` ends with `/snapshot` or `/ws`, whichever the caller serves. */
    readonly check: (
      path: string,
      ending: "snapshot" | "ws",
      token: string | undefined
    ) => Effect.Effect<Followed, StreamRefusal>
  }
>()("ballast/stream/Access") {
  static readonly layer = Layer.effect(
    Access,
    Effect.gen(function* () {
      const tickets = yield* Tickets
      return Access.of({
        check: Effect.fnUntraced(function* (path, ending, token) {
          const parts = path.split("/").slice(1).map(decoded)
          const topic = parts.at(-1) === ending ? topicOfPath(parts.slice(0, -1)) : undefined
          if (topic === undefined) return yield* noSuchTopic
          if (token === undefined || token === "") return yield* tokenMissing
          const { grants } = yield* tickets.open(token)
          const name = nameOf(topic)
          const grant = grants.find((one) => one.topic === name)
          if (grant === undefined) return yield* topicNotAllowed(name)
          return { topic, symbols: grant.symbols }
        })
      })
    })
  )
}
