/** The load generator as the harness sees it: a process of its own that keeps its connections busy for a while. */
import { Effect, Schema, type Scope } from "effect"
import { ProcessFailed, startProcess } from "#bench/http/ownedProcess.ts"
import type { Server } from "#bench/http/Server.ts"

/** Keep-alive connections, each with one request under way. */
export const connections = 32

export const Loaded = Schema.Struct({
  /** Answers with status 200. */
  answered: Schema.Int,
  /** Other answers, broken connections and timeouts. */
  failed: Schema.Int,
  seconds: Schema.Finite
})
export type Loaded = typeof Loaded.Type

const decodeLoaded = Schema.decodeUnknownEffect(Loaded)

/** Paths of one route, of which any is as good as another. */
export type Paths = ReadonlyArray<string>

export interface Load {
  /** Each route has the same share of the requests; its paths are asked for in random order. */
  readonly routes: ReadonlyArray<Paths>
  readonly seconds: number
}

export interface Generator {
  /** Fails when any request does, since that would be no measurement. */
  readonly load: (server: Server, load: Load) => Effect.Effect<Loaded, ProcessFailed | Schema.SchemaError>
}

export const startGenerator = (secret: string): Effect.Effect<Generator, ProcessFailed, Scope.Scope> =>
  Effect.map(startProcess("The load generator", new URL("loadProcess.ts", import.meta.url)), (process) => ({
    load: Effect.fnUntraced(function* (server, load) {
      const answer = yield* process.ask({ baseUrl: server.baseUrl, secret, connections, ...load })
      const loaded = yield* decodeLoaded(answer)
      if (loaded.failed === 0 && loaded.answered > 0) return loaded
      const message = `${server.name} answered ${loaded.answered} requests and failed ${loaded.failed}`
      return yield* new ProcessFailed({ message })
    })
  }))
