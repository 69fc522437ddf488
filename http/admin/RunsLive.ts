import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { NotFound, OperationNotCancellable } from "#domain/errors/Errors.ts"
import { maxListed, SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import { Admin } from "#http/admin/Admin.ts"
import { successV1 } from "#http/v1/envelopeV1.ts"

const unknown = (id: string) => new NotFound({ message: `No suspended run has the id ${id}` })

export const RunsLive = HttpApiBuilder.group(
  Admin,
  "runs",
  Effect.fnUntraced(function* (handlers) {
    const runs = yield* SuspendedRuns

    return handlers.handleAll({
      listRuns: () => Effect.flatMap(runs.list(maxListed), (all) => successV1({ runs: all })),
      showRun: ({ params: { id } }) =>
        Effect.flatMap(
          runs.find(id),
          Option.match({ onNone: () => Effect.fail(unknown(id)), onSome: (run) => successV1(run) })
        ),
      resumeRun: Effect.fnUntraced(function* ({ params: { id } }) {
        if (!(yield* runs.resume(id))) return yield* unknown(id)
        return yield* successV1({ id, resumed: true as const })
      }),
      cancelRun: Effect.fnUntraced(function* ({ params: { id } }) {
        const answer = yield* runs.cancel(id)
        if (answer === "Unknown") return yield* unknown(id)
        if (answer === "NotCancellable")
          return yield* new OperationNotCancellable({
            message: `${id} watches a transfer that was sent, or carries an owner's revocation out; resume it instead`
          })
        return yield* successV1({ id, cancelled: true as const })
      })
    })
  })
)
