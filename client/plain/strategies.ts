/** Strategies, their configuration, versions and terms; discovery and backtests. */
import type { Call, CallOptions, FilterOf, PayloadOf } from "#client/plain/Call.ts"
import { pagesOf } from "#client/plain/pages.ts"

const byId = (strategyId: string) => ({ params: { strategyId } })

export const strategiesOf = (call: Call) => ({
  create: (payload: PayloadOf<"createStrategy">, options?: CallOptions) =>
    call("createStrategy", { payload, ...options }),
  /** Says what is wrong with a draft; nothing is stored. */
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
  /** Public strategies of all tenants. */
  discover: (query: FilterOf<"discoverStrategies">, options?: CallOptions) =>
    pagesOf(async (cursor) => {
      const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const { data, nextCursor } = await call.whole("discoverStrategies", { query: page, ...options })
      return { items: data.strategies, nextCursor }
    }),
  get: (strategyId: string, options?: CallOptions) => call("getStrategy", { ...byId(strategyId), ...options }),
  update: (strategyId: string, payload: PayloadOf<"updateStrategy">, options?: CallOptions) =>
    call("updateStrategy", { ...byId(strategyId), payload, ...options }),
  /** Deletes what nobody uses, and archives the rest. */
  delete: (strategyId: string, options?: CallOptions) => call("deleteStrategy", { ...byId(strategyId), ...options }),
  /** Takes the archiving back. */
  restore: (strategyId: string, options?: CallOptions) => call("restoreStrategy", { ...byId(strategyId), ...options }),
  /** A new version is the target from the next rebalance of each portfolio. */
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
