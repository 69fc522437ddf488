/** Operations: rebalances, withdrawals and all else that takes its time. */
import { BallastError } from "#client/plain/BallastError.ts"
import type { Call, CallOptions, ConnectOptions, FilterOf } from "#client/plain/Call.ts"
import { accountOf, iterate } from "#client/plain/iterate.ts"
import { pagesOf } from "#client/plain/pages.ts"
import type { OperationId } from "#domain/Ids.ts"
import { executionEvents, fromTheBeginning } from "#http/v1/executionEvents.ts"

type Filter = FilterOf<"listOperations">
type OwnFilter = FilterOf<"listPortfolioOperations">

const byId = (portfolioId: string, operationId: string) => ({ params: { portfolioId, operationId } })
const ended: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"])
const defaultWaitSeconds = 600

export const operationsOf = (call: Call, connection: ConnectOptions) => {
  const get = (portfolioId: string, operationId: string, options?: CallOptions) =>
    call("getOperation", { ...byId(portfolioId, operationId), ...options })

  /** What happens to it, from its beginning to its end, over connections that break. */
  const watch = (operationId: string, lastEventId: string = fromTheBeginning) =>
    iterate(executionEvents(accountOf(connection), operationId as OperationId, { lastEventId }), connection)

  return {
    list: (query: Filter = {}, options?: CallOptions) =>
      pagesOf(async (cursor) => {
        const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
        const { data, nextCursor } = await call.whole("listOperations", { query: page, ...options })
        return { items: data.operations, nextCursor }
      }),
    ofPortfolio: (portfolioId: string, query: OwnFilter = {}, options?: CallOptions) =>
      pagesOf(async (cursor) => {
        const page = { ...query, ...(cursor === undefined ? {} : { cursor }) }
        const request = { params: { portfolioId }, query: page, ...options }
        const { data, nextCursor } = await call.whole("listPortfolioOperations", request)
        return { items: data.operations, nextCursor }
      }),
    get,
    cancel: (portfolioId: string, operationId: string, options?: CallOptions) =>
      call("cancelOperation", { ...byId(portfolioId, operationId), ...options }),
    watch,
    /**
     * The operation once it is `completed`, `failed` or `cancelled`. Fails with `STILL_RUNNING` when that is not so
     * after `waitSeconds`, 600 when left out; the operation goes on all the same.
     */
    finished: async (
      portfolioId: string,
      operationId: string,
      { waitSeconds = defaultWaitSeconds, ...options }: { readonly waitSeconds?: number } & CallOptions = {}
    ) => {
      const events = watch(operationId)[Symbol.asyncIterator]()
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<"late">((resolve) => {
        timer = setTimeout(() => resolve("late"), waitSeconds * 1_000)
      })
      try {
        while (true) {
          const next = await Promise.race([events.next(), late])
          if (next === "late" || next.done === true) break
        }
      } finally {
        clearTimeout(timer)
        void events.return?.()
      }
      const operation = await get(portfolioId, operationId, options)
      if (ended.has(operation.state)) return operation
      throw new BallastError({
        code: "STILL_RUNNING",
        message: `Operation ${operationId} is still ${operation.state} after ${waitSeconds} seconds; it goes on, ask again`
      })
    }
  }
}
