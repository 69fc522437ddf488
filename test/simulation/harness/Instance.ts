/**
 * The service as one simulated process: its real services, engine, scheduler and stores over the simulated world.
 */
import { type Context, Effect, Exit, Layer, Scope } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { BalancesOnce } from "#domain/asset/BalancesOnce.ts"
import { TokenChecks } from "#domain/asset/TokenChecks.ts"
import { CurrentBalances } from "#domain/chain/CurrentBalances.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ServiceContracts } from "#domain/chain/ServiceContracts.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { StrategyConfiguration } from "#domain/strategy/StrategyConfiguration.ts"
import { StrategyVersions } from "#domain/strategy/StrategyVersions.ts"
import { MarketChecks } from "#domain/trading/MarketChecks.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { Reconciler } from "#domain/transfer/Reconciler.ts"
import { WithdrawalAuthorizations } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { Withdrawals } from "#domain/withdrawal/Withdrawals.ts"
import { DryRunLive } from "#layers/engine/DryRunLive.ts"
import { shardsOn } from "#layers/engine/cluster/Shards.ts"
import { engineOn, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { runtimeOn } from "#layers/engine/WorkflowRuntime.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import type { ServiceSettings } from "#src/config/settings.ts"
import { testSettingsWith } from "#test/support/settings.ts"
import { sabotaged } from "#test/simulation/ports/sabotaged.ts"
import { simulatedReceipts } from "#test/simulation/ports/SimulatedReceipts.ts"
import { simulatedBalances } from "#test/simulation/ports/SimulatedBalances.ts"
import {
  simulatedActionReceipts,
  simulatedExecution,
  simulatedOperations
} from "#test/simulation/ports/SimulatedBatches.ts"
import { simulatedTags } from "#test/simulation/ports/SimulatedTags.ts"
import { simulatedPrices } from "#test/simulation/ports/SimulatedPrices.ts"
import { simulatedRelayer } from "#test/simulation/ports/SimulatedRelayer.ts"
import { NoIssuer } from "#bench/engine/noIssuer.ts"
import { simulatedRouting } from "#test/simulation/ports/SimulatedRouting.ts"
import { simulatedTokens } from "#test/simulation/ports/SimulatedTokens.ts"
import { simulatedVenue } from "#test/simulation/ports/SimulatedVenue.ts"
import { simulatedWithdrawals } from "#test/simulation/ports/SimulatedWithdrawals.ts"
import type { Locks } from "#test/simulation/harness/Locks.ts"
import type { Process } from "#test/simulation/harness/Process.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import type { Session } from "#test/simulation/harness/Session.ts"
import { simulatedSql } from "#test/simulation/harness/SimulatedSql.ts"
import type { World } from "#test/simulation/world/World.ts"
import { RevocationTransactions } from "#domain/revocation/RevocationTransactions.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"

const never = Effect.die(new Error("no owner revokes here"))

/** The port of revocations where no owner revokes. */
const unrevoked = Layer.succeed(
  RevocationTransactions,
  RevocationTransactions.of({ draft: () => never, hasEnded: () => never, prepare: () => never, find: () => never })
)

export interface InstanceOptions {
  readonly world: World
  readonly session: Session
  readonly process: Process
  /** Source of this process's ids. */
  readonly random: Random
  /** Whether it is the only process on the database. */
  readonly isAlone: boolean
  /** Locks of all processes of the simulation. */
  readonly locks: Locks
  readonly settings: Partial<ServiceSettings>
}

const portsOf = (world: World) =>
  Layer.mergeAll(
    simulatedReceipts(world),
    simulatedBalances(world),
    simulatedExecution(world),
    simulatedOperations(world),
    simulatedActionReceipts(world),
    simulatedPrices(world),
    simulatedRouting(world),
    NoIssuer,
    simulatedVenue(world),
    simulatedWithdrawals(world),
    unrevoked,
    simulatedTags(world),
    Layer.succeed(Chains, Chains.of({ supported: [...world.chains.values()].map(({ chainId }) => chainId) })),
    Layer.succeed(ServiceContracts, ServiceContracts.of({ on: () => new Set() })),
    FamiliesLive,
    simulatedTokens(world)
  )

const Services = Layer.mergeAll(
  Layer.provide(Rebalances.layer, DryRunLive),
  StrategyVersions.layer,
  StrategyConfiguration.layer,
  WithdrawalAuthorizations.layer,
  Withdrawals.layer.pipe(Layer.provide(GasBudget.layer)),
  PositionReader.layer.pipe(Layer.provideMerge(Portfolios.layer), Layer.provide(InTransit.layer)),
  RunPlanner.layer.pipe(Layer.provide(InTransit.layer)),
  Reconciler.fiber.pipe(Layer.provideMerge(Reconciler.layer)),
  TokenChecks.fiber,
  MarketChecks.fiber.pipe(Layer.provide(MarketChecks.layer))
)

const layerOf = ({ isAlone, locks, process, random, session, settings, world }: InstanceOptions) =>
  Services.pipe(
    Layer.provideMerge(SchedulerLive),
    Layer.provideMerge(engineOn(runtimeOn(shardsOn(locks.layer)))),
    Layer.provideMerge(TokenChecks.layer),
    Layer.provideMerge(BalancesOnce),
    Layer.provideMerge(CurrentBalances),
    Layer.provideMerge(sabotaged(world)),
    Layer.provideMerge(simulatedRelayer(world)),
    Layer.provideMerge(SqlLive),
    Layer.provideMerge(simulatedSql(session, process, isAlone)),
    Layer.provideMerge(portsOf(world)),
    Layer.provideMerge(Digest.layerWebCrypto),
    Layer.provideMerge(
      Layer.succeed(
        SecureRandom.SecureRandom,
        SecureRandom.make((size) => random.bytes(size))
      )
    ),
    Layer.provideMerge(testSettingsWith(settings))
  )

export type Running = Layer.Success<ReturnType<typeof layerOf>>

export class Instance {
  readonly process: Process
  /** Requests of people that are not answered yet. */
  unanswered = 0
  #context: Context.Context<Running> | undefined

  /** Starts; calls `onFailure` when it could not. */
  constructor(options: InstanceOptions, onFailure: (why: string) => void) {
    this.process = options.process
    const build = Effect.gen(function* () {
      const scope = yield* Scope.make()
      return yield* Layer.buildWithScope(Layer.fresh(layerOf(options)), scope)
    })
    options.process.fork(build, (exit) => {
      if (Exit.isSuccess(exit)) this.#context = exit.value
      else onFailure(String(exit.cause))
    })
  }

  get isReady(): boolean {
    return this.#context !== undefined && this.process.isRunning
  }

  /** Runs something in the process, with all of its services. */
  run<A, E>(effect: Effect.Effect<A, E, Running>, onExit: (exit: Exit.Exit<A, E>) => void): void {
    if (this.#context === undefined) throw new Error(`${this.process.name} has not started`)
    this.unanswered += 1
    this.process.fork(Effect.provideContext(effect, this.#context), (exit) => {
      this.unanswered -= 1
      onExit(exit)
    })
  }
}
