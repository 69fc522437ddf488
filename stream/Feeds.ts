/**
 * Runs the providers' feeds on the worker that holds the lease, for what clients of all workers follow.
 *
 * Operators may cut a provider and connect it again; that is shared, so it holds for whichever worker has the lease.
 */
import { Clock, Context, Effect, FiberHandle, Layer, Metric, Option, Result, Schema, Stream } from "effect"
import { Backplane, type BackplaneUnavailable, type Lease, type SharedEntry } from "#domain/stream/Backplane.ts"
import type { FeedItem, FeedState, MarketFeed } from "#domain/stream/MarketFeed.ts"
import { MarketFeeds } from "#domain/stream/MarketFeeds.ts"
import { type Provider, providerOf, type PublicAsset } from "#domain/stream/PublicAsset.ts"
import { type DropReason, readTick } from "#domain/stream/readTick.ts"
import type { AssetClass } from "#domain/stream/Topic.ts"
import * as Metrics from "#domain/stream/WorkerMetrics.ts"
import type { ProviderStatus } from "#domain/stream/WorkerStatus.ts"
import { follow } from "#stream/follow.ts"
import { Registry } from "#stream/Registry.ts"
import { Workers } from "#stream/Workers.ts"

const prefix = "provider."
/** Assets that get their sequence concurrently; ticks of one asset follow each other. */
const concurrentAppends = 32

const Order = Schema.fromJsonString(Schema.Struct({ isCut: Schema.Boolean, at: Schema.Finite }))
const decodeOrder = Schema.decodeUnknownOption(Order)
const encodeOrder = Schema.encodeSync(Order)

const idle: FeedState = { status: "disconnected", attempt: 0, nextAttemptAt: null, reason: null }

/** One provider on this worker. */
interface Line {
  readonly feed: MarketFeed
  readonly fiber: FiberHandle.FiberHandle
  state: FeedState
  isCut: boolean
  lastEventAt: number | null
  readonly dropped: Map<string, number>
}

const iso = (millis: number | null) => (millis === null ? null : new Date(millis).toISOString())

export class Feeds extends Context.Service<
  Feeds,
  {
    readonly configured: ReadonlyArray<MarketFeed>
    readonly holdsLease: () => boolean
    readonly report: () => ReadonlyArray<ProviderStatus>
    readonly order: (provider: Provider, isCut: boolean) => Effect.Effect<void, BackplaneUnavailable>
  }
>()("ballast/stream/Feeds") {
  static readonly layer = Layer.effect(
    Feeds,
    Effect.gen(function* () {
      const backplane = yield* Backplane
      const registry = yield* Registry
      const workers = yield* Workers
      const configured = yield* MarketFeeds
      const lines = yield* Effect.forEach(configured, (feed) =>
        Effect.map(FiberHandle.make(), (fiber): Line => ({
          feed,
          fiber,
          state: idle,
          isCut: false,
          lastEventAt: null,
          dropped: new Map()
        }))
      )
      let lease: Option.Option<Lease> = Option.none()

      const wantedOf = (provider: Provider): ReadonlyArray<PublicAsset> =>
        [...workers.wanted()]
          .map((asset) => registry.find(asset))
          .filter((asset) => asset !== undefined)
          .filter((asset) => asset.provider === provider)

      const drop = Effect.fnUntraced(function* (line: Line, reason: DropReason | "fenced" | "unavailable") {
        line.dropped.set(reason, (line.dropped.get(reason) ?? 0) + 1)
        yield* Metric.update(Metric.withAttributes(Metrics.dropped, { provider: line.feed.provider, reason }), 1)
      })

      const assetClassOf = (provider: Provider) =>
        (Object.keys(providerOf) as ReadonlyArray<AssetClass>).find((known) => providerOf[known] === provider)!

      const take = Effect.fnUntraced(function* (line: Line, held: Lease, item: FeedItem) {
        const now = yield* Clock.currentTimeMillis
        const tick = Result.flatMap(item, ({ figures, symbol }) =>
          Result.map(readTick(figures, now), (data) => ({ symbol, data }))
        )
        if (Result.isFailure(tick)) return yield* drop(line, tick.failure)
        const { provider } = line.feed
        const outcome = yield* backplane
          .append({ assetClass: assetClassOf(provider), ...tick.success }, held)
          .pipe(Effect.catch(() => Effect.succeed(Option.some("unavailable" as const))))
        if (Option.isSome(outcome)) return yield* drop(line, outcome.value)
        line.lastEventAt = now
        yield* Metric.update(Metric.withAttributes(Metrics.events, { provider }), 1)
      })

      /** Items of one symbol in their order, symbols side by side. */
      const takeAll = (line: Line, held: Lease, items: ReadonlyArray<FeedItem>) => {
        const bySymbol = Map.groupBy(items, (item) => (Result.isFailure(item) ? "" : item.success.symbol))
        return Effect.forEach(
          bySymbol.values(),
          (group) => Effect.forEach(group, (item) => take(line, held, item), { discard: true }),
          { concurrency: concurrentAppends, discard: true }
        )
      }

      const run = (line: Line, held: Lease) =>
        line.feed
          .figures(
            Effect.sync(() => wantedOf(line.feed.provider)),
            (state) => {
              line.state = state
            }
          )
          .pipe(
            Stream.runForEach((items) => takeAll(line, held, items)),
            Effect.catchTag("FeedRefused", ({ reason }) => {
              line.state = { status: "error", attempt: line.state.attempt, nextAttemptAt: null, reason }
              return Effect.logError(`${line.feed.provider} refuses this deployment: ${reason}`)
            }),
            Effect.onInterrupt(() =>
              Effect.sync(() => {
                line.state = idle
              })
            )
          )

      const arrange = (line: Line) =>
        Option.isSome(lease) && !line.isCut
          ? FiberHandle.run(line.fiber, run(line, lease.value))
          : FiberHandle.clear(line.fiber)

      yield* backplane.leases.pipe(
        Stream.runForEach((next) => {
          lease = next
          return Effect.andThen(
            Effect.logDebug(
              Option.isSome(next) ? `Holds the lease, epoch ${next.value.epoch}` : "Does not hold the lease"
            ),
            Effect.forEach(lines, arrange, { discard: true })
          )
        }),
        Effect.forkScoped
      )

      const obey = Effect.fnUntraced(function* (key: string, value: string) {
        const line = lines.find(({ feed }) => key === `${prefix}${feed.provider}`)
        const order = decodeOrder(value)
        if (line === undefined || Option.isNone(order)) return
        line.isCut = order.value.isCut && !line.feed.isPolled
        yield* arrange(line)
      })

      const obeyAll = (entries: ReadonlyArray<SharedEntry>) =>
        Effect.forEach(entries, ({ key, value }) => obey(key, value), { discard: true })
      yield* follow(backplane.shared, obeyAll, { complaint: "Orders could not be read", level: "Debug" })

      return Feeds.of({
        configured,
        holdsLease: () => Option.isSome(lease),
        order: Effect.fn("Feeds.order")(function* (provider, isCut) {
          const at = yield* Clock.currentTimeMillis
          yield* backplane.share([{ key: `${prefix}${provider}`, value: encodeOrder({ isCut, at }) }])
        }),
        report: () =>
          lines.map(({ dropped, feed, lastEventAt, state }) => ({
            provider: feed.provider,
            status: state.status,
            reason: state.reason,
            subscriptionCount: state.status === "connected" ? wantedOf(feed.provider).length : 0,
            reconnect: { attempt: state.attempt, nextAttemptAt: iso(state.nextAttemptAt) },
            lastEventAt: iso(lastEventAt),
            dropped: Object.fromEntries(dropped)
          }))
      })
    })
  )
}
