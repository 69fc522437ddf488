/** For suites of procedures that do not read executions. */
import { Layer } from "effect"
import { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import { Executions } from "#domain/execution/Executions.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { SocketPlatform } from "#rpc/native/SocketPlatform.ts"

export const NoExecutions = Layer.mergeAll(
  Layer.mock(Executions, {}),
  Layer.mock(ExecutionReaders, {}),
  Layer.mock(StreamAdmission, {}),
  Layer.mock(SocketPlatform, { waiting: () => 0 }),
  ShutdownState.layer
)
