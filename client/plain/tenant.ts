/** Who calls, the tenant's own settings, and what can be traded. */
import type { Call, CallOptions, FilterOf, PayloadOf } from "#client/plain/Call.ts"
import { pagesOf } from "#client/plain/pages.ts"

type AssetFilter = FilterOf<"listAssets">

export const tenantOf = (call: Call) => ({
  /** The tenant and the scopes of the key. */
  whoami: (options: CallOptions = {}) => call("whoami", options),
  scopes: async (options: CallOptions = {}) => (await call("listScopes", options)).scopes,
  chains: async (options: CallOptions = {}) => (await call("listChains", options)).chains,
  assets: {
    list: (query: AssetFilter = {}, options?: CallOptions) =>
      pagesOf(async (cursor) => {
        const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
        const { data, nextCursor } = await call.whole("listAssets", { query: page, ...options })
        return { items: data.assets, nextCursor }
      }),
    breakDown: (payload: PayloadOf<"breakDownAllocation">, options?: CallOptions) =>
      call("breakDownAllocation", { payload, ...options })
  },
  tenant: {
    preferences: (options: CallOptions = {}) => call("getTenantPreferences", options),
    updatePreferences: (payload: PayloadOf<"updateTenantPreferences">, options?: CallOptions) =>
      call("updateTenantPreferences", { payload, ...options }),
    fees: (options: CallOptions = {}) => call("getTenantFees", options),
    /** Requests of the tenant that were refused in the last seven days. */
    requests: (query: FilterOf<"listRefusedRequests"> = {}, options?: CallOptions) =>
      pagesOf(async (cursor) => {
        const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
        const { data, nextCursor } = await call.whole("listRefusedRequests", { query: page, ...options })
        return { items: data.requests, nextCursor }
      }),
    updateFees: (payload: PayloadOf<"updateTenantFees">, options?: CallOptions) =>
      call("updateTenantFees", { payload, ...options })
  }
})
