/** Webhooks and what was delivered to them. */
import type { Call, CallOptions, PayloadOf } from "#client/plain/Call.ts"
import { pagesOf } from "#client/plain/pages.ts"

const byId = (webhookId: string) => ({ params: { webhookId } })

export const webhooksOf = (call: Call) => ({
  /** The secret in the answer is shown this once. */
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
