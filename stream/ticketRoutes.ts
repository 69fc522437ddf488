/** `POST /v1/tickets` and the snapshot routes. Source: interface "Market-data stream worker". */
import { Clock, Effect, Result } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { makeFixedWindows } from "#domain/effects/fixedWindows.ts"
import { peerAddress } from "#domain/stream/peerAddress.ts"
import { type Ticket, TicketTarget, type TopicGrant } from "#domain/stream/Ticket.ts"
import { assetKey, assetTopic, collectionClass, collectionsOf, collectionTopic, nameOf } from "#domain/stream/Topic.ts"
import { TrustedProxies } from "#domain/stream/TrustedProxies.ts"
import { WorkerSettings } from "#domain/stream/WorkerSettings.ts"
import { Access } from "#stream/Access.ts"
import { answering, json, readBody } from "#stream/answers.ts"
import { Demand } from "#stream/Demand.ts"
import { Hub } from "#stream/Hub.ts"
import { Intake } from "#stream/Intake.ts"
import { assetNotAllowed, invalidRequest, notReady, rateLimited, registryEmpty } from "#stream/refusals.ts"
import { Registry } from "#stream/Registry.ts"
import { Tickets } from "#stream/Tickets.ts"

/** The grants that a ticket's target opens. The failure says why the target makes no sense. Pure. */
const grantsOf = (target: TicketTarget): Result.Result<ReadonlyArray<TopicGrant>, string> => {
  const { assetClass } = target
  if (target.kind === "collection") {
    const { collection } = target
    return collectionClass[collection] === assetClass
      ? Result.succeed([{ topic: nameOf(collectionTopic(collection)), symbols: [...new Set(target.symbols)].sort() }])
      : Result.fail(`collection: ${collection} has no assets of class ${assetClass}`)
  }
  const { collectionFeeds, symbol } = target
  const wanted = collectionFeeds === true ? collectionsOf(assetClass) : collectionFeeds || []
  const foreign = wanted.find((namespace) => collectionClass[namespace] !== assetClass)
  if (foreign !== undefined) return Result.fail(`collectionFeeds: ${foreign} has no assets of class ${assetClass}`)
  const topics = [assetTopic(assetClass, symbol), ...[...new Set(wanted)].map(collectionTopic)]
  return Result.succeed(topics.map((topic) => ({ topic: nameOf(topic), symbols: [symbol] })))
}

export const ticketRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const access = yield* Access
    const demand = yield* Demand
    const hub = yield* Hub
    const intake = yield* Intake
    const registry = yield* Registry
    const tickets = yield* Tickets
    const proxies = yield* TrustedProxies
    const settings = yield* WorkerSettings
    const counted = makeFixedWindows(settings.ticketsPerMinute)

    const requireAllowance = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const remote = request.remoteAddress._tag === "Some" ? request.remoteAddress.value : undefined
      const address = peerAddress(remote, request.headers["x-forwarded-for"], proxies)
      const now = yield* Clock.currentTimeMillis
      const { isExceeded, resetAt } = counted(address, now)
      if (isExceeded) return yield* rateLimited(Math.max(1, Math.ceil((resetAt - now) / 1000)))
    })

    const ticket = Effect.gen(function* () {
      yield* requireAllowance
      const target = yield* readBody(TicketTarget)
      const grants = yield* Effect.catch(Effect.fromResult(grantsOf(target)), invalidRequest)
      if (registry.all().length === 0) return yield* registryEmpty
      const { assetClass } = target
      const symbols = target.kind === "asset" ? [target.symbol] : target.symbols
      const unknown = symbols.filter((symbol) => !registry.has(assetClass, symbol))
      if (unknown.length > 0) return yield* assetNotAllowed(unknown)
      demand.expect(symbols.map((symbol) => assetKey(assetClass, symbol)))
      return json({
        baseUrl: settings.publicUrl,
        expiresInSeconds: settings.ticketLifeSeconds,
        token: yield* tickets.issue(grants),
        topics: grants.map(({ topic }) => topic)
      } satisfies Ticket)
    })

    const snapshot = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const url = new URL(request.url, "http://worker")
      if (!(yield* intake.isReady)) return yield* notReady
      const token = url.searchParams.get("token") ?? undefined
      const { symbols, topic } = yield* access.check(url.pathname, "snapshot", token)
      demand.expect(symbols.map((symbol) => assetKey(topic.assetClass, symbol)))
      return json(hub.snapshotOf(topic, symbols))
    })

    yield* router.add("POST", "/v1/tickets", answering(ticket))
    yield* router.add("GET", "/v1/assets/:assetClass/:symbol/:feedKind/:resolution/snapshot", answering(snapshot))
    yield* router.add("GET", "/v1/collections/:namespace/:name/snapshot", answering(snapshot))
  })
)
