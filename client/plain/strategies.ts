/** Strategies, their configuration, versions and terms; discovery and backtests. */
import type { Call, CallOptions, DataOf, FilterOf, PayloadOf } from "#client/plain/Call.ts"
import { type Pages, pagesOf } from "#client/plain/pages.ts"

/** Templates that portfolios follow. One that is unknown, or another tenant's, is `API_006`. */
export interface Strategies {
  /** Makes one. An external id that is taken is `API_230`. */
  readonly create: (payload: PayloadOf<"createStrategy">, options?: CallOptions) => Promise<DataOf<"createStrategy">>
  /** Says what is wrong with a draft; nothing is stored. */
  readonly validate: (
    payload: PayloadOf<"validateStrategy">,
    options?: CallOptions
  ) => Promise<DataOf<"validateStrategy">>
  /** What a draft would have done over the prices that were recorded. */
  readonly backtest: (
    payload: PayloadOf<"backtestStrategy">,
    options?: CallOptions
  ) => Promise<DataOf<"backtestStrategy">>
  /** Lists the tenant's strategies, newest first. A cursor of another list is `API_002`. */
  readonly list: (
    query?: FilterOf<"listStrategies">,
    options?: CallOptions
  ) => Pages<DataOf<"listStrategies">["strategies"][number]>
  /** Public strategies of all tenants. */
  readonly discover: (
    query: FilterOf<"discoverStrategies">,
    options?: CallOptions
  ) => Pages<DataOf<"discoverStrategies">["strategies"][number]>
  /** One strategy at its present version. */
  readonly get: (strategyId: string, options?: CallOptions) => Promise<DataOf<"getStrategy">>
  /**
   * Changes what is given; targets change by `publish`, schedule and preferences by their own methods. An external id
   * that is taken is `API_230`.
   */
  readonly update: (
    strategyId: string,
    payload: PayloadOf<"updateStrategy">,
    options?: CallOptions
  ) => Promise<DataOf<"updateStrategy">>
  /** Deletes what nobody uses, and archives the rest. */
  readonly delete: (strategyId: string, options?: CallOptions) => Promise<DataOf<"deleteStrategy">>
  /** Takes the archiving back. */
  readonly restore: (strategyId: string, options?: CallOptions) => Promise<DataOf<"restoreStrategy">>
  /** A new version is the target from the next rebalance of each portfolio. */
  readonly publish: (
    strategyId: string,
    payload: PayloadOf<"publishStrategyVersion">,
    options?: CallOptions
  ) => Promise<DataOf<"publishStrategyVersion">>
  /** All versions, newest first. */
  readonly versions: (
    strategyId: string,
    query?: { readonly limit?: number },
    options?: CallOptions
  ) => Pages<DataOf<"listStrategyVersions">["versions"][number]>
  /** The return of its targets over time, from daily prices. */
  readonly performance: (strategyId: string, options?: CallOptions) => Promise<DataOf<"getStrategyPerformance">>
  /** Reads when the strategy's portfolios are rebalanced. */
  readonly schedule: (strategyId: string, options?: CallOptions) => Promise<DataOf<"getStrategySchedule">>
  /** Replaces the schedule. */
  readonly setSchedule: (
    strategyId: string,
    payload: PayloadOf<"setStrategySchedule">,
    options?: CallOptions
  ) => Promise<DataOf<"setStrategySchedule">>
  /** How its portfolios trade. */
  readonly preferences: (strategyId: string, options?: CallOptions) => Promise<DataOf<"getStrategyPreferences">>
  /** Changes the preferences that are given. */
  readonly updatePreferences: (
    strategyId: string,
    payload: PayloadOf<"updateStrategyPreferences">,
    options?: CallOptions
  ) => Promise<DataOf<"updateStrategyPreferences">>
  /** Which fees its swaps have. */
  readonly fees: (strategyId: string, options?: CallOptions) => Promise<DataOf<"getStrategyFees">>
  /** Changes the fees that are given. */
  readonly updateFees: (
    strategyId: string,
    payload: PayloadOf<"updateStrategyFees">,
    options?: CallOptions
  ) => Promise<DataOf<"updateStrategyFees">>
  /** What the creator of a strategy of another tenant changed and this tenant has not accepted. */
  readonly mirrorTerms: (strategyId: string, options?: CallOptions) => Promise<DataOf<"getMirrorTerms">>
  /** Accepts it for the portfolios of this tenant. */
  readonly acceptMirrorTerms: (
    strategyId: string,
    payload: PayloadOf<"acceptMirrorTerms">,
    options?: CallOptions
  ) => Promise<DataOf<"acceptMirrorTerms">>
}

const byId = (strategyId: string) => ({ params: { strategyId } })

export const strategiesOf = (call: Call): Strategies => ({
  create: (payload: PayloadOf<"createStrategy">, options?: CallOptions) =>
    call("createStrategy", { payload, ...options }),
  validate: (payload: PayloadOf<"validateStrategy">, options?: CallOptions) =>
    call("validateStrategy", { payload, ...options }),
  backtest: (payload: PayloadOf<"backtestStrategy">, options?: CallOptions) =>
    call("backtestStrategy", { payload, ...options }),
  list: (query: FilterOf<"listStrategies"> = {}, options?: CallOptions) =>
    pagesOf(async (cursor) => {
      const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const { data, nextCursor } = await call.whole("listStrategies", { query: page, ...options })
      return { items: data.strategies, nextCursor }
    }),
  discover: (query: FilterOf<"discoverStrategies">, options?: CallOptions) =>
    pagesOf(async (cursor) => {
      const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const { data, nextCursor } = await call.whole("discoverStrategies", { query: page, ...options })
      return { items: data.strategies, nextCursor }
    }),
  get: (strategyId: string, options?: CallOptions) => call("getStrategy", { ...byId(strategyId), ...options }),
  update: (strategyId: string, payload: PayloadOf<"updateStrategy">, options?: CallOptions) =>
    call("updateStrategy", { ...byId(strategyId), payload, ...options }),
  delete: (strategyId: string, options?: CallOptions) => call("deleteStrategy", { ...byId(strategyId), ...options }),
  restore: (strategyId: string, options?: CallOptions) => call("restoreStrategy", { ...byId(strategyId), ...options }),
  publish: (strategyId: string, payload: PayloadOf<"publishStrategyVersion">, options?: CallOptions) =>
    call("publishStrategyVersion", { ...byId(strategyId), payload, ...options }),
  versions: (strategyId: string, query: { readonly limit?: number } = {}, options?: CallOptions) =>
    pagesOf(async (cursor) => {
      const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const request = { ...byId(strategyId), query: page, ...options }
      const { data, nextCursor } = await call.whole("listStrategyVersions", request)
      return { items: data.versions, nextCursor }
    }),
  performance: (strategyId: string, options?: CallOptions) =>
    call("getStrategyPerformance", { ...byId(strategyId), ...options }),
  schedule: (strategyId: string, options?: CallOptions) =>
    call("getStrategySchedule", { ...byId(strategyId), ...options }),
  setSchedule: (strategyId: string, payload: PayloadOf<"setStrategySchedule">, options?: CallOptions) =>
    call("setStrategySchedule", { ...byId(strategyId), payload, ...options }),
  preferences: (strategyId: string, options?: CallOptions) =>
    call("getStrategyPreferences", { ...byId(strategyId), ...options }),
  updatePreferences: (strategyId: string, payload: PayloadOf<"updateStrategyPreferences">, options?: CallOptions) =>
    call("updateStrategyPreferences", { ...byId(strategyId), payload, ...options }),
  fees: (strategyId: string, options?: CallOptions) => call("getStrategyFees", { ...byId(strategyId), ...options }),
  updateFees: (strategyId: string, payload: PayloadOf<"updateStrategyFees">, options?: CallOptions) =>
    call("updateStrategyFees", { ...byId(strategyId), payload, ...options }),
  mirrorTerms: (strategyId: string, options?: CallOptions) =>
    call("getMirrorTerms", { ...byId(strategyId), ...options }),
  acceptMirrorTerms: (strategyId: string, payload: PayloadOf<"acceptMirrorTerms">, options?: CallOptions) =>
    call("acceptMirrorTerms", { ...byId(strategyId), payload, ...options })
})
