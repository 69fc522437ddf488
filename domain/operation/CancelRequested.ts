/** An operation is to be cancelled, so nothing is signed for it any more. */
import { Schema } from "effect"
import { OperationId } from "#domain/values/Ids.ts"

export class CancelRequested extends Schema.TaggedError<CancelRequested>()("CancelRequested", {
  operationId: OperationId
}) {
  override get message() {
    return `Operation ${this.operationId} is to be cancelled: nothing is signed for it any more`
  }
}

/** The error text of a cancelled operation. */
export const cancelledError = "cancelled on request; what was signed before was waited for"
