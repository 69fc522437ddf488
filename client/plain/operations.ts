/** Operations: rebalances, withdrawals and all else that takes its time. */
import type { Call, CallOptions, DataOf, FilterOf } from "#client/plain/Call.ts"
import { type Pages, pagesOf } from "#client/plain/pages.ts"
import { BallastError } from "#client/transport/BallastError.ts"
import type { Connection } from "#client/transport/Connection.ts"
import { type ExecutionEvent, executionEvents } from "#client/transport/executionEvents.ts"

type Filter = FilterOf<"listOperations">
type OwnFilter = FilterOf<"listPortfolioOperations">

/** Work on portfolios. An operation or a portfolio that is unknown is `API_006`. */
export interface Operations {
  /** Lists the operations of all portfolios, newest first. A cursor of another list is `API_002`. */
  readonly list: (query?: Filter, options?: CallOptions) => Pages<DataOf<"listOperations">["operations"][number]>
  /** Lists the operations of one portfolio, newest first. */
  readonly ofPortfolio: (
    portfolioId: string,
    query?: OwnFilter,
    options?: CallOptions
  ) => Pages<DataOf<"listPortfolioOperations">["operations"][number]>
  /** Its state, and all that it did once it has ended. */
  readonly get: (portfolioId: string, operationId: string, options?: CallOptions) => Promise<DataOf<"getOperation">>
  /** Ends it before more is signed; `API_204` where that is not possible any more. */
  readonly cancel: (
    portfolioId: string,
    operationId: string,
    options?: CallOptions
  ) => Promise<DataOf<"cancelOperation">>
  /** What happens to it, from its beginning or after an event to its end, over connections that break. */
  readonly watch: (operationId: string, lastEventId?: string) => AsyncIterable<ExecutionEvent>
  /**
   * The operation once it is `completed`, `failed` or `cancelled`. Fails with `STILL_RUNNING` when that is not so after
   * `waitSeconds`, 600 when left out; the operation goes on all the same.
   */
  readonly finished: (
    portfolioId: string,
    operationId: string,
    options?: { readonly waitSeconds?: number } & CallOptions
  ) => Promise<DataOf<"getOperation">>
}

const byId = (portfolioId: string, operationId: string) => ({ params: { portfolioId, operationId } })
const ended: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"])
const defaultWaitSeconds = 600
/** The id of the last event from which the whole history follows. */
const fromTheBeginning = "0-0"

export const operationsOf = (call: Call, connection: Connection): Operations => {
  const get = (portfolioId: string, operationId: string, options?: CallOptions) =>
    call("getOperation", { ...byId(portfolioId, operationId), ...options })

  const watch = (operationId: string, lastEventId: string = fromTheBeginning) =>
    executionEvents(
      {
        connection,
        method: "GET",
        path: `/v1/executions/${encodeURIComponent(operationId)}/stream`,
        after: lastEventId
      },
      (data) => data as ExecutionEvent
    )

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
