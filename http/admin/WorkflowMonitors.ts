/**
 * Contract: control of waiting workflows, in the v1 envelope. Source: interface "Workflow-monitor control routes". The
 * last three routes are an extension: docs/decisions/0188-waiting-workflows.md.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { WorkflowId } from "#domain/values/Ids.ts"
import { AdminAudit } from "#http/admin/AdminAudit.ts"
import { AdminAuth } from "#http/admin/AdminAuth.ts"
import { okV1 } from "#http/v1/envelopeV1.ts"
import * as Model from "#http/admin/WorkflowMonitorModel.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { NotFound, PortfolioNotFound, ReplayMismatch, WorkflowAsleep } from "#http/wireErrors.ts"

const params = { workflowId: WorkflowId }

/** What is enqueued is done by the next tick. */
const accepted = <Data extends Schema.Top>(data: Data) => okV1(data).pipe(HttpApiSchema.status(202))

export const WorkflowMonitors = HttpApiGroup.make("workflowMonitors")
  .add(
    HttpApiEndpoint.post("dueMonitors", "/workflow-monitors/due", {
      payload: Model.DuePayload,
      success: okV1(Model.Due)
    }),
    HttpApiEndpoint.post("tickMonitor", "/workflow-monitors/tick", {
      payload: Model.TickPayload,
      success: okV1(Model.Ticked),
      error: [NotFound, ReplayMismatch]
    }),
    HttpApiEndpoint.post("notifyExecution", "/workflow-monitors/notify-execution", {
      payload: Model.ExecutionPayload,
      success: accepted(Model.ExecutionNotified)
    }),
    HttpApiEndpoint.post("notifyTriggerMatch", "/workflow-monitors/notify-trigger-match", {
      payload: Model.TriggerMatchPayload,
      success: accepted(Model.TriggerMatched),
      error: NotFound
    }),
    HttpApiEndpoint.post("recoverMonitor", "/workflow-monitors/recover", {
      payload: Model.RecoverPayload,
      success: accepted(Model.Recovered),
      error: [NotFound, WorkflowAsleep]
    }),
    HttpApiEndpoint.post("createWorkflow", "/workflow-monitors", {
      payload: Model.WorkflowDraft,
      success: okV1(Model.Workflow).pipe(HttpApiSchema.status(201)),
      error: PortfolioNotFound
    }),
    HttpApiEndpoint.post("approveWorkflow", "/workflow-monitors/:workflowId/approve", {
      params,
      success: okV1(Model.Workflow),
      error: NotFound
    }),
    HttpApiEndpoint.delete("removeWorkflow", "/workflow-monitors/:workflowId", {
      params,
      success: okV1(Schema.Struct({ workflowId: Schema.String, removed: Schema.Literal(true) })),
      error: NotFound
    })
  )
  .middleware(RequestErrors)
  .middleware(AdminAuth)
  .middleware(ErrorsV1)
  .middleware(AdminAudit)
  .prefix("/v1/admin/control-plane")
