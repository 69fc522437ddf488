/** What runs write, many at a time (`batched`), under the name of this process. */
import { DateTime, Effect } from "effect"
import { batched } from "#domain/batched.ts"
import type { Runner } from "#layers/engine/durable/Runner.ts"
import { type ExecutionStore, type NewExecution, stepKey, type StepResult } from "#layers/sql/ExecutionStore.ts"

export const makeRunStorage = Effect.fnUntraced(function* (
  store: ExecutionStore["Service"],
  runner: Runner["Service"]
) {
  const insert = yield* batched(
    ({ executionId }) => executionId,
    (executions: ReadonlyArray<NewExecution>) =>
      Effect.map(
        store.insert(executions),
        (inserted) =>
          ({ executionId }: NewExecution) =>
            inserted.has(executionId)
      )
  )
  const record = yield* batched(
    ({ executionId, step }) => stepKey(executionId, step),
    (steps: ReadonlyArray<StepResult>) =>
      Effect.map(
        store.record(steps),
        (recorded) =>
          ({ executionId, step }: StepResult) =>
            recorded.has(stepKey(executionId, step))
      )
  )
  const finish = yield* batched(
    (executionId) => executionId,
    (executionIds: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        yield* store.finish(yield* runner.id, executionIds, yield* DateTime.now)
        return () => undefined
      })
  )
  return { insert, record, finish }
})

export type RunStorage = Effect.Success<ReturnType<typeof makeRunStorage>>
