/** Layers for suites of procedures that read neither executions nor portfolios. */
import { Layer } from "effect"
import { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import { Executions } from "#domain/execution/Executions.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { PortfolioPerformances } from "#domain/performance/PortfolioPerformances.ts"
import { Policies } from "#domain/policy/Policies.ts"
import { PortfolioAccess } from "#domain/portfolio/PortfolioAccess.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Previews } from "#domain/rebalance/preview/Previews.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { SocketPlatform } from "#rpc/native/SocketPlatform.ts"

const unused = () => {
  throw new Error("No test of this suite asks for this")
}

const NoPortfolios = Layer.mergeAll(
  Layer.mock(PortfolioAccess, { acting: unused, reading: unused }),
  Layer.mock(Portfolios, {}),
  Layer.mock(PositionReader, {}),
  Layer.mock(PortfolioPerformances, {}),
  Layer.mock(Policies, {}),
  Layer.mock(Operations, {}),
  Layer.mock(Previews, {}),
  Layer.mock(Rebalances, {})
)

export const NoExecutions = Layer.mergeAll(
  Layer.mock(Executions, {}),
  Layer.mock(ExecutionReaders, {}),
  Layer.mock(StreamAdmission, {}),
  Layer.mock(SocketPlatform, { waiting: () => 0 }),
  NoPortfolios,
  ShutdownState.layer
)
