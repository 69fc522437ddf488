/** Who calls, the tenant's own settings, and what can be traded. */
import type { Call, CallOptions, DataOf, FilterOf, PayloadOf } from "#client/plain/Call.ts"
import { type Pages, pagesOf } from "#client/plain/pages.ts"

type AssetFilter = FilterOf<"listAssets">

/** What can be traded. */
interface Assets {
  /** Lists the assets that fit the filters. A cursor of another list is `API_002`. */
  readonly list: (query?: AssetFilter, options?: CallOptions) => Pages<DataOf<"listAssets">["assets"][number]>
  /** What an allocation consists of, by sectors, countries and the like. */
  readonly breakDown: (
    payload: PayloadOf<"breakDownAllocation">,
    options?: CallOptions
  ) => Promise<DataOf<"breakDownAllocation">>
}

/** The tenant's own settings, which strategies without their own have. */
interface TenantSettings {
  /** How portfolios trade, and when. */
  readonly preferences: (options?: CallOptions) => Promise<DataOf<"getTenantPreferences">>
  /** Changes the preferences that are given. */
  readonly updatePreferences: (
    payload: PayloadOf<"updateTenantPreferences">,
    options?: CallOptions
  ) => Promise<DataOf<"updateTenantPreferences">>
  /** Which fees swaps have. */
  readonly fees: (options?: CallOptions) => Promise<DataOf<"getTenantFees">>
  /** Requests of the tenant that were refused in the last seven days: what to read when something does not work. */
  readonly requests: (
    query?: FilterOf<"listRefusedRequests">,
    options?: CallOptions
  ) => Pages<DataOf<"listRefusedRequests">["requests"][number]>
  /** Changes the fees that are given. */
  readonly updateFees: (
    payload: PayloadOf<"updateTenantFees">,
    options?: CallOptions
  ) => Promise<DataOf<"updateTenantFees">>
}

/** What is of the key and its tenant, or of everybody. */
export interface Own {
  /** The tenant and the scopes of the key: the call to try a key with. */
  readonly whoami: (options?: CallOptions) => Promise<DataOf<"whoami">>
  /** All scopes that keys can have. */
  readonly scopes: (options?: CallOptions) => Promise<DataOf<"listScopes">["scopes"]>
  /** The chains of the deployment. */
  readonly chains: (options?: CallOptions) => Promise<DataOf<"listChains">["chains"]>
  /** What can be traded. */
  readonly assets: Assets
  /** The tenant's own settings. */
  readonly tenant: TenantSettings
}

export const tenantOf = (call: Call): Own => ({
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
