/** Webhooks and what was delivered to them. */
import type { Call, CallOptions, DataOf, PayloadOf } from "#client/plain/Call.ts"
import { type Pages, pagesOf } from "#client/plain/pages.ts"

/** Webhooks of the tenant. One that is unknown is `API_006`. */
export interface Webhooks {
  /** The secret in the answer is shown this once. */
  readonly create: (payload: PayloadOf<"createWebhook">, options?: CallOptions) => Promise<DataOf<"createWebhook">>
  /** All of the tenant. A cursor of another list is `API_002`. */
  readonly list: (
    query?: { readonly limit?: number },
    options?: CallOptions
  ) => Pages<DataOf<"listWebhooks">["webhooks"][number]>
  /** One webhook, without its secret. */
  readonly get: (webhookId: string, options?: CallOptions) => Promise<DataOf<"getWebhook">>
  /** Nothing more is delivered to it. */
  readonly delete: (webhookId: string, options?: CallOptions) => Promise<DataOf<"deleteWebhook">>
  /** Another secret, shown this once; for 24 hours the old one signs too. */
  readonly rotateSecret: (webhookId: string, options?: CallOptions) => Promise<DataOf<"rotateWebhookSecret">>
  /** Goes on where a disabled webhook stopped. */
  readonly enable: (webhookId: string, options?: CallOptions) => Promise<DataOf<"enableWebhook">>
  /** Sends an event that is marked as a test. */
  readonly test: (webhookId: string, options?: CallOptions) => Promise<DataOf<"testWebhook">>
  /** What was sent to it and how it was answered, newest first. */
  readonly deliveries: (
    webhookId: string,
    query?: { readonly limit?: number },
    options?: CallOptions
  ) => Pages<DataOf<"listWebhookDeliveries">["deliveries"][number]>
}

const byId = (webhookId: string) => ({ params: { webhookId } })

export const webhooksOf = (call: Call): Webhooks => ({
  create: (payload: PayloadOf<"createWebhook">, options?: CallOptions) =>
    call("createWebhook", { payload, ...options }),
  list: (query: { readonly limit?: number } = {}, options?: CallOptions) =>
    pagesOf(async (cursor) => {
      const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const { data, nextCursor } = await call.whole("listWebhooks", { query: page, ...options })
      return { items: data.webhooks, nextCursor }
    }),
  get: (webhookId: string, options?: CallOptions) => call("getWebhook", { ...byId(webhookId), ...options }),
  delete: (webhookId: string, options?: CallOptions) => call("deleteWebhook", { ...byId(webhookId), ...options }),
  rotateSecret: (webhookId: string, options?: CallOptions) =>
    call("rotateWebhookSecret", { ...byId(webhookId), ...options }),
  enable: (webhookId: string, options?: CallOptions) => call("enableWebhook", { ...byId(webhookId), ...options }),
  test: (webhookId: string, options?: CallOptions) => call("testWebhook", { ...byId(webhookId), ...options }),
  deliveries: (webhookId: string, query: { readonly limit?: number } = {}, options?: CallOptions) =>
    pagesOf(async (cursor) => {
      const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const request = { ...byId(webhookId), query: page, ...options }
      const { data, nextCursor } = await call.whole("listWebhookDeliveries", request)
      return { items: data.deliveries, nextCursor }
    })
})
