/** A server under measurement: a process and where it listens. */
import { Effect, Schema } from "effect"
import { startProcess } from "#bench/http/ownedProcess.ts"

export interface Server {
  readonly name: string
  readonly pid: number
  readonly baseUrl: string
}

const decodeListening = Schema.decodeUnknownEffect(Schema.Struct({ port: Schema.Int }))

/** Starts a program of bench/peers, which takes its settings as the first message and answers with its port. */
export const startPeer = Effect.fnUntraced(function* (name: string, program: string, settings: object) {
  const peer = yield* startProcess(name, new URL(`../peers/${program}`, import.meta.url))
  const { port } = yield* decodeListening(yield* peer.ask(settings))
  return { name, pid: peer.pid, baseUrl: `http://127.0.0.1:${port}` } satisfies Server
})
