/** An operation on the wire. Source: interface "Operation", shapes 2.20 and 2.21. */
import { Schema } from "effect"
import { OperationKind, OperationState, OperationOrigin } from "#domain/operation/Operation.ts"
import { OperationResult, Outcome } from "#http/operation/OperationResultModel.ts"
import { OperationIdText, PortfolioIdText, prose, timestamp } from "#http/values/values.ts"

/** What a route that starts work answers. */
export const Submitted = Schema.Struct({
  operationId: OperationIdText,
  submittedAt: timestamp("Time at which the operation was accepted")
}).annotate({ identifier: "SubmittedOperation", description: "The operation to poll." })

export const Operation = Schema.Struct({
  operationId: OperationIdText,
  portfolioId: PortfolioIdText,
  kind: OperationKind.annotate({ description: "What is done.", examples: ["rebalance"] }),
  state: OperationState.annotate({
    description:
      "`completed`, `failed` and `cancelled` are terminal and never change; poll every 2 to 5 seconds until then. `retrying`: it waits for a chain or a provider and goes on by itself. `awaiting_user`: it waits for the owner to sign anew at `/v2/portfolios/{portfolioId}/chains/signature`. `cancelled`: it was cancelled before all of it was signed; `result` has what landed.",
    examples: ["completed"]
  }),
  submittedAt: timestamp("Time at which the operation was accepted"),
  createdAt: timestamp("Copy of `submittedAt`"),
  updatedAt: timestamp("Time of the state's last change", "2026-03-02T09:30:12.000Z"),
  finishedAt: Schema.NullOr(timestamp("Time at which it ended")).annotate({
    description: "Present once a terminal state was reached.",
    examples: ["2026-03-02T09:30:12.000Z"]
  }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Free text for people, set on `failed` and `cancelled`.",
    examples: [null]
  })
}).annotate({ identifier: "Operation", description: "Asynchronous work on a portfolio." })

const ended = {
  outcome: Schema.NullOr(Outcome).annotate({
    description:
      "What the operation did. Null until it has ended, and for an operation that a fault of the service ended or that ended before outcomes were stored.",
    examples: ["traded"]
  }),
  reason: Schema.NullOr(Schema.String).annotate({
    description: "Sentence for people: why nothing or not all was done. `error` is why it failed.",
    examples: [null]
  })
}

const FiredByModel = Schema.Struct({
  workflowId: prose("Id of the workflow.", 64, "wf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"),
  kind: prose("The kind of its trigger; `schedule` where it runs by the clock.", 64, "portfolio_drift_from_target"),
  summary: prose("What was found, for people.", 2_000, "Drift of Blue chips: an asset is out of its band")
}).annotate({
  identifier: "FiredBy",
  description: "The workflow that started it, and why; absent unless `trigger` is `triggered`."
})

export const OperationItem = Schema.Struct({
  ...Operation.fields,
  trigger: OperationOrigin.annotate({ description: "What started it.", examples: ["scheduled"] }),
  firedBy: Schema.optionalKey(FiredByModel),
  ...ended
}).annotate({ identifier: "OperationItem", description: "An operation in a list." })

export const OperationDetail = Schema.Struct({
  ...OperationItem.fields,
  result: Schema.NullOr(OperationResult).annotate({ description: "Null when `outcome` is." })
}).annotate({ identifier: "OperationDetail", description: "An operation with all that it did." })
