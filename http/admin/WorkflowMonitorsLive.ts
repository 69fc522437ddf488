import { DateTime, Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Monitors } from "#domain/monitor/Monitors.ts"
import type { TriggerEvent } from "#domain/monitor/Trigger.ts"
import { Workflows } from "#domain/monitor/Workflows.ts"
import { Admin } from "#http/admin/Admin.ts"
import { successV1 } from "#http/v1/envelopeV1.ts"
import type { AnyEvent } from "#http/admin/WorkflowMonitorModel.ts"
import { dueView, monitorView, notifiedView, tickedView } from "#http/admin/workflowMonitorView.ts"

/** What is left out of an event follows from its kind. */
const eventOf = (event: typeof AnyEvent.Type | undefined): { readonly triggerEvent?: TriggerEvent } =>
  event === undefined ? {} : { triggerEvent: { summary: event.kind, ...event } }

const nobody = { ownerAddress: null, portfolioId: null, requestId: null, workerId: null, workflowId: null }

export const WorkflowMonitorsLive = HttpApiBuilder.group(
  Admin,
  "workflowMonitors",
  Effect.fnUntraced(function* (handlers) {
    const monitors = yield* Monitors
    const workflows = yield* Workflows

    return handlers.handleAll({
      dueMonitors: ({ payload: { asOfIso, limit } }) =>
        Effect.flatMap(monitors.due(asOfIso, limit), (due) =>
          successV1({ asOfIso: DateTime.formatIso(asOfIso), due: due.map(dueView) })
        ),
      tickMonitor: ({ payload: { asOfIso: asOf, triggerEvent, ...named } }) =>
        Effect.flatMap(monitors.tick({ asOf, ...named, ...eventOf(triggerEvent) }), (ticked) =>
          successV1(tickedView(ticked))
        ),
      notifyExecution: ({ payload: { asOfIso: asOf, ...execution } }) =>
        Effect.flatMap(monitors.notifyExecution({ asOf, ...execution }), (notified) => {
          const { operationId, runId } = execution
          return successV1(
            Option.match(notified, {
              onNone: () => ({
                asOfIso: DateTime.formatIso(asOf),
                enqueued: false,
                matchedExecution: null,
                ...nobody
              }),
              onSome: (one) => ({ ...notifiedView(asOf, one), matchedExecution: { operationId, runId } })
            })
          )
        }),
      notifyTriggerMatch: ({ payload: { asOfIso: asOf, triggerEvent, triggerSummary, ...named } }) =>
        Effect.flatMap(
          monitors.notifyTriggerMatch({ asOf, ...named, ...eventOf(triggerEvent) }, triggerSummary),
          (notified) => successV1({ ...notifiedView(asOf, notified), triggerSummary })
        ),
      recoverMonitor: ({ payload: { asOfIso: asOf, triggerEvent, ...named } }) =>
        Effect.flatMap(monitors.recover({ asOf, ...named, ...eventOf(triggerEvent) }), (notified) =>
          successV1(notifiedView(asOf, notified))
        ),
      createWorkflow: ({ payload }) =>
        Effect.flatMap(
          workflows.create({
            portfolioId: payload.portfolioId,
            title: payload.title,
            trigger: payload.trigger ?? null,
            everyMs: payload.everyMs ?? null,
            firstRunAt: payload.firstRunAt ?? null,
            isRepeated: payload.isRepeated ?? true,
            needsApproval: payload.needsApproval ?? false
          }),
          (monitor) => successV1(monitorView(monitor))
        ),
      approveWorkflow: ({ params }) =>
        Effect.flatMap(workflows.approve(params.workflowId), (monitor) => successV1(monitorView(monitor))),
      removeWorkflow: ({ params: { workflowId } }) =>
        Effect.andThen(workflows.remove(workflowId), successV1({ workflowId, removed: true as const }))
    })
  })
)
