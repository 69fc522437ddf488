/** What must hold once faults have ended and enough time has passed: everything has come to rest, and on target. */
import { Effect, Exit, Option } from "effect"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { SimulatedPortfolio } from "#test/simulation/actors/enroll.ts"
import type { Invariants } from "#test/simulation/invariants/Invariants.ts"
import { isTerminal, type OperationState } from "#domain/operation/Operation.ts"
import type { Database } from "#test/simulation/harness/Database.ts"
import type { Driver } from "#test/simulation/harness/Driver.ts"
import type { World } from "#test/simulation/world/World.ts"

export interface Rest {
  readonly database: Database
  readonly driver: Driver
  readonly invariants: Invariants
  readonly portfolios: ReadonlyArray<SimulatedPortfolio>
  readonly world: World
}

/** What the planner would still trade for a portfolio, by its latest run. */
const wanted = (operationId: OperationId) =>
  Effect.gen(function* () {
    const context = yield* (yield* RunStore).context(operationId)
    if (Option.isNone(context)) return []
    const { chains } = yield* (yield* RunPlanner).plan(context.value)
    return chains.flatMap(({ chainId, legs, transfers = [] }) => [
      ...legs.map(({ buy, sell, valueUsd }) => `chain ${chainId}: ${sell} for ${buy}, ${valueUsd}`),
      ...transfers.map(({ buy, valueUsd }) => `chain ${chainId}: to ${buy}, ${valueUsd}`)
    ])
  })

const checkOnTarget = async ({ driver, invariants, portfolios, world }: Rest): Promise<void> => {
  for (const { portfolioId } of portfolios) {
    const runs = [...invariants.seen.operations].filter(
      ([, { kind, portfolio }]) => kind === "rebalance" && portfolio === portfolioId
    )
    const latest = runs
      .map(([id]) => id)
      .sort()
      .at(-1)
    invariants.require("every portfolio was run", latest !== undefined, () => portfolioId)
    let left: ReadonlyArray<string> | undefined
    driver.ready!.run(wanted(latest as OperationId), (exit) => {
      left = Exit.isSuccess(exit) ? exit.value : [String(exit.cause)]
    })
    await driver.until(() => left !== undefined, 600_000)
    invariants.require(
      "at rest every portfolio is on target",
      left!.length === 0,
      () => `${portfolioId} would trade ${left!.join("; ")} at ${world.harness.now}`
    )
  }
}

export const checkRest = async (rest: Rest): Promise<void> => {
  const { invariants, world } = rest
  const snapshot = await invariants.check()
  for (const [id, { kind, state }] of invariants.seen.operations)
    invariants.require(
      "at rest every operation has ended",
      isTerminal(state as OperationState),
      () => `${kind} ${id} is ${state}`
    )
  invariants.require(
    "at rest nothing is on its way",
    snapshot.transfers.every(({ state }) => state !== "open"),
    () =>
      snapshot.transfers
        .filter(({ state }) => state === "open")
        .map(({ operation }) => operation)
        .join(", ")
  )
  invariants.require("at rest nothing is announced", snapshot.announced.length === 0, () =>
    snapshot.announced.join(", ")
  )
  invariants.require("at rest no run is unfinished", snapshot.unfinishedRuns === 0, () =>
    String(snapshot.unfinishedRuns)
  )
  invariants.require(
    "what the bridge brought is in the ledger",
    world.bridge.all.every(
      ({ ended, sourceTx }) =>
        ended && [...invariants.seen.transfers.values()].some(({ txHash }) => txHash === sourceTx)
    ),
    () =>
      world.bridge.all
        .filter(({ ended }) => !ended)
        .map(({ sourceTx }) => sourceTx)
        .join(", ")
  )
  await checkOnTarget(rest)
}
