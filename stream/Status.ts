/** What operators see and do. Source: shapes U. */
import { Context, Effect, Layer } from "effect"
import type { BackplaneUnavailable } from "#domain/stream/Backplane.ts"
import { timeOf } from "#domain/stream/MarketData.ts"
import { Provider } from "#domain/stream/PublicAsset.ts"
import type { StreamRefusal } from "#domain/stream/SocketGate.ts"
import { type StreamAssetKey } from "#domain/stream/Topic.ts"
import type { ProviderStatus, TopicStatus, WorkerStatus } from "#domain/stream/WorkerStatus.ts"
import { Feeds } from "#stream/Feeds.ts"
import { Hub } from "#stream/Hub.ts"
import { providerNotConfigured } from "#stream/refusals.ts"
import { Workers } from "#stream/Workers.ts"

/** Why a polled provider is not cut. */
const noConnection =
  "the provider is polled: there is no connection to cut, and no request is made while no client follows its assets"

const absent = (provider: Provider, reason: string): ProviderStatus => ({
  provider,
  status: "disconnected",
  reason,
  subscriptionCount: 0,
  reconnect: { attempt: 0, nextAttemptAt: null },
  lastEventAt: null,
  dropped: {}
})

export class Status extends Context.Service<
  Status,
  {
    readonly read: () => WorkerStatus
    readonly connect: (
      provider: Provider
    ) => Effect.Effect<{ provider: Provider; status: ProviderStatus["status"] }, StreamRefusal | BackplaneUnavailable>
    readonly disconnect: (
      provider: Provider
    ) => Effect.Effect<
      { provider: Provider; status: ProviderStatus["status"]; noop: boolean; reason?: string },
      StreamRefusal | BackplaneUnavailable
    >
  }
>()("ballast/stream/Status") {
  static readonly layer = Layer.effect(
    Status,
    Effect.gen(function* () {
      const feeds = yield* Feeds
      const hub = yield* Hub
      const workers = yield* Workers

      const providerStatus = (provider: Provider): ProviderStatus => {
        if (!feeds.configured.some((feed) => feed.provider === provider)) return absent(provider, "not configured")
        const reports = feeds.holdsLease() ? feeds.report() : workers.providers()
        return (
          reports.find((report) => report.provider === provider) ?? absent(provider, "no worker holds the lease yet")
        )
      }

      const topicStatus = (topic: string, clientCount: number, assets: ReadonlySet<StreamAssetKey>): TopicStatus => {
        const windows = [...assets].map((asset) => hub.windowOf(asset))
        const times = windows.flatMap(({ latest }) => (latest === undefined ? [] : [timeOf(latest.data)]))
        return {
          topic,
          clientCount,
          replayWindow: {
            fromSequence: Math.max(0, ...windows.map(({ completeAfter }) => completeAfter)) + 1,
            toSequence: hub.position()
          },
          lastEventAt: times.length === 0 ? null : new Date(Math.max(...times)).toISOString()
        }
      }

      const read = (): WorkerStatus => {
        const clients = workers.clients()
        const here = Map.groupBy(hub.topics(), ({ topic }) => topic)
        const names = new Set([...clients.keys(), ...here.keys()])
        return {
          providers: Provider.literals.map(providerStatus),
          topics: [...names].sort().map((topic) => {
            const views = here.get(topic) ?? []
            const counted = views.reduce((sum, view) => sum + view.clients, 0)
            const assets = new Set(views.flatMap((view) => view.assets))
            return topicStatus(topic, Math.max(clients.get(topic) ?? 0, counted), assets)
          })
        }
      }

      const requireConfigured = (provider: Provider) => {
        const feed = feeds.configured.find((one) => one.provider === provider)
        return feed === undefined ? Effect.fail(providerNotConfigured(provider)) : Effect.succeed(feed)
      }

      return Status.of({
        read,
        connect: Effect.fn("Status.connect")(function* (provider) {
          yield* requireConfigured(provider)
          const { status } = providerStatus(provider)
          yield* feeds.order(provider, false)
          return { provider, status: status === "connected" ? status : "connecting" }
        }),
        disconnect: Effect.fn("Status.disconnect")(function* (provider) {
          const { isPolled } = yield* requireConfigured(provider)
          if (isPolled) {
            return { provider, status: providerStatus(provider).status, noop: true, reason: noConnection }
          }
          yield* feeds.order(provider, true)
          return { provider, status: "disconnected", noop: false }
        })
      })
    })
  )
}
