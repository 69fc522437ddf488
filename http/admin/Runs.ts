/** Contract: the runs that wait for an operator, in the v1 envelope. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { SuspendedRun } from "#domain/operation/SuspendedRuns.ts"
import { AdminAudit } from "#http/admin/AdminAudit.ts"
import { AdminAuth } from "#http/admin/AdminAuth.ts"
import { okV1 } from "#http/v1/envelopeV1.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { NotFound, OperationNotCancellable } from "#http/wireErrors.ts"

/** Id of a run, or of its operation. */
const id = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_]{1,64}$/u, { expected: "the id of an operation or a run" })
)

const Run = Schema.Struct({ ...SuspendedRun.fields, suspendedAt: Schema.DateTimeUtcFromString })

export const Runs = HttpApiGroup.make("runs")
  .add(
    // Those that stand longest first, a thousand at most.
    HttpApiEndpoint.get("listRuns", "/runs", { success: okV1(Schema.Struct({ runs: Schema.Array(Run) })) }),
    HttpApiEndpoint.get("showRun", "/runs/:id", { params: { id }, success: okV1(Run), error: NotFound }),
    HttpApiEndpoint.post("resumeRun", "/runs/:id/resume", {
      params: { id },
      success: okV1(Schema.Struct({ id: Schema.String, resumed: Schema.Literal(true) })),
      error: NotFound
    }),
    HttpApiEndpoint.post("cancelRun", "/runs/:id/cancel", {
      params: { id },
      success: okV1(Schema.Struct({ id: Schema.String, cancelled: Schema.Literal(true) })),
      error: [NotFound, OperationNotCancellable]
    })
  )
  .middleware(RequestErrors)
  .middleware(AdminAuth)
  .middleware(ErrorsV1)
  .middleware(AdminAudit)
  .prefix("/v1/admin")
