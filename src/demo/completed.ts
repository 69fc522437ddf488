/** Follows an operation to its end and prints each state on the way. */
import { Effect, Schedule } from "effect"
import type { OperationId, PortfolioId } from "#domain/Ids.ts"
import { Ballast } from "#src/demo/Ballast.ts"
import { JourneyFailed } from "#src/demo/JourneyFailed.ts"
import { line } from "#src/demo/print.ts"

export const poll = Schedule.spaced("250 millis")
export const patience = "60 seconds"

/** Fails when the operation ends as anything but `completed`. */
export const completed = Effect.fnUntraced(function* (portfolioId: PortfolioId, operationId: string) {
  const ballast = yield* Ballast
  let seen = ""
  const operation = yield* ballast.operations
    .getOperation({ params: { portfolioId, operationId: operationId as OperationId } })
    .pipe(
      Effect.map(({ data }) => data),
      Effect.tap(({ state }) => {
        const isNews = state !== seen
        seen = state
        return isNews ? line(`  ${state}`) : Effect.void
      }),
      Effect.repeat({
        schedule: poll,
        until: ({ state }) => state === "completed" || state === "failed" || state === "cancelled"
      }),
      Effect.timeout(patience)
    )
  if (operation.state !== "completed")
    return yield* new JourneyFailed({
      message: `The ${operation.kind} ended as ${operation.state}: ${operation.error}`
    })
  return operation
})
