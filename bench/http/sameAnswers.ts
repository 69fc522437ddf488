/**
 * A comparison counts only when the peers do the same: every server must send the same bytes, but for the time at which
 * each of them read positions from the chains.
 */
import { Effect, Schema } from "effect"
import type { Server } from "#bench/http/Server.ts"

/** Two servers answered a path differently. */
export class AnswersDiffer extends Schema.TaggedError<AnswersDiffer>()("AnswersDiffer", { message: Schema.String }) {}

/** Status 200 and its body; anything else is a defect of the set-up. */
const bodyOf = (server: Server, path: string, secret: string): Effect.Effect<string> =>
  Effect.promise(async (signal) => {
    const response = await fetch(server.baseUrl + path, { headers: { "x-api-key": secret }, signal })
    const body = await response.text()
    if (response.status !== 200) throw new Error(`${server.name} answered ${response.status} on ${path}: ${body}`)
    return body
  })

const readAt = /"(fetchedAt|priceAsOf)":"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"/gu

/** A body without the time at which positions were read, if that is a time in the form that the interface asks for. */
export const comparable = (body: string): string => body.replace(readAt, '"$1":"*"')

/** Fails with the two bodies when a peer's differs from the service's on any of the paths. */
export const requireSameAnswers = Effect.fnUntraced(function* (
  { peers, service }: { readonly service: Server; readonly peers: ReadonlyArray<Server> },
  paths: ReadonlyArray<string>,
  secret: string
) {
  for (const path of paths) {
    const expected = comparable(yield* bodyOf(service, path, secret))
    for (const peer of peers) {
      const body = comparable(yield* bodyOf(peer, path, secret))
      if (body !== expected) {
        const message = `On ${path} ${service.name} answers\n${expected}\nand ${peer.name}\n${body}`
        return yield* new AnswersDiffer({ message })
      }
    }
  }
})
