/** People of a simulation: they deposit, withdraw, trigger, pause, publish and reschedule, as the seed has it. */
import { Cause, DateTime, Effect, Exit, Option, Result } from "effect"
import * as Amount from "#domain/values/Amount.ts"
import { chainIdOf, evmAccount, type AccountId } from "#domain/values/Caip.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { type ApiKeyId, makeFlowId } from "#domain/values/Ids.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { maxListed, SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import { StrategyConfiguration } from "#domain/strategy/StrategyConfiguration.ts"
import { StrategyVersions } from "#domain/strategy/StrategyVersions.ts"
import { type WithdrawalAuthorization, WithdrawalAuthorizations } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import type { SignedWithdrawal, WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { Withdrawals } from "#domain/withdrawal/Withdrawals.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { catalogue } from "#test/support/assets.ts"
import { assetsOn, drawAllocation, type SimulatedPortfolio } from "#test/simulation/actors/enroll.ts"
import { signatureOf } from "#test/simulation/ports/SimulatedWithdrawals.ts"
import type { Instance, Running } from "#test/simulation/harness/Instance.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import type { World } from "#test/simulation/world/World.ts"

const messageOf = (issued: WithdrawalAuthorization) =>
  issued.kind === "typed-data" ? issued.typedData.message : issued.message

type Act = (portfolio: SimulatedPortfolio) => Effect.Effect<unknown, unknown, Running | Caller | PortfolioTenant>

const callerOf = ({ tenantId }: SimulatedPortfolio): Caller["Service"] => ({
  tenantId,
  tenantName: "Acme",
  tenantEmail: "a@acme.test",
  entitlements: new Set(),
  apiKeyId: "key_00000000000000000000000000" as ApiKeyId,
  scopes: new Set()
})

export class Actors {
  readonly #world: World
  readonly #random: Random
  readonly #portfolios: ReadonlyArray<SimulatedPortfolio>
  /** Ids that were given out; those of enrollments are smaller. */
  #permissions = 0x1000
  /** Authorizations that owners signed; anybody may submit them. */
  readonly signed: Array<{
    readonly accountId: AccountId
    readonly signed: SignedWithdrawal
  }> = []

  constructor(world: World, random: Random, portfolios: ReadonlyArray<SimulatedPortfolio>) {
    this.#world = world
    this.#random = random
    this.#portfolios = portfolios
  }

  /** Some dollars of a random asset, to a random account. */
  deposit(portfolio = this.#random.pick(this.#portfolios)): void {
    const account = this.#random.pick(portfolio.accounts)
    const asset = catalogue.get(this.#random.pick(assetsOn(account)))!
    const price = this.#world.market.price(asset.assetId, this.#world.harness.now)!
    const raw = Amount.fromUsd(BigInt(this.#random.between(5, 20_000)) * Decimal.one, asset.decimals, price)
    this.#world.trace.note("user: deposit", `${Amount.format(raw, asset.decimals)} ${asset.symbol} on ${asset.chainId}`)
    this.#world.deposit(account, asset.assetId, raw)
  }

  /** Somebody does something through the instance, or nobody when there is none. */
  act(instance: Instance | undefined): void {
    const portfolio = this.#random.pick(this.#portfolios)
    const [name, act] = this.#random.weighted<readonly [string, Act | undefined]>([
      [3, ["deposit", undefined]],
      [3, ["withdraw", this.#withdraw]],
      [1, ["liquidate", this.#liquidate]],
      [2, ["trigger", this.#trigger]],
      [1, ["pause or resume", this.#pauseOrResume]],
      [1.5, ["publish", this.#publish]],
      [0.7, ["reschedule", this.#reschedule]],
      [1, ["read positions", this.#readPositions]],
      [0.5, ["take a permission back", this.#takeBack]],
      [1, ["sign anew", this.#signAnew]],
      [0.7, ["trigger all", undefined]]
    ])
    if (name === "deposit") return this.deposit(portfolio)
    if (instance === undefined) return this.#world.trace.note("user: nobody answers", name)
    if (act === undefined) this.triggerAll(instance)
    else this.#do(instance, { name, act }, portfolio)
  }

  /** Switches everybody's automation on at the end. */
  resumeAll(instance: Instance): void {
    for (const portfolio of this.#portfolios)
      this.#do(
        instance,
        { name: "resume", act: ({ portfolioId }) => Effect.flatMap(Portfolios, (one) => one.start(portfolioId)) },
        portfolio
      )
  }

  /**
   * Resumes, at the end, runs that processes died of too often: kills may strike a run ten times before its first step.
   * What a defect suspended stays, as that is a fault of the service.
   */
  resumeKilledRuns(instance: Instance): void {
    const resumed = Effect.gen(function* () {
      const runs = yield* SuspendedRuns
      const killed = (yield* runs.list(maxListed)).filter(({ cause }) => cause.startsWith("The run began"))
      return yield* Effect.forEach(killed, ({ executionId }) => runs.resume(executionId))
    })
    instance.run(resumed, (exit) =>
      this.#world.trace.note(
        "operator: resumes killed runs",
        Exit.isSuccess(exit) ? String(exit.value.length) : shortCause(exit.cause)
      )
    )
  }

  /** Lets owners sign everything anew at the end: nobody keeps the agent waiting. */
  signAllAnew(instance: Instance): void {
    for (const portfolio of this.#portfolios) this.#do(instance, { name: "sign anew", act: this.#signAnew }, portfolio)
  }

  /** Everybody at once. */
  triggerAll(instance: Instance): void {
    for (const portfolio of this.#portfolios) this.#do(instance, { name: "trigger", act: this.#trigger }, portfolio)
  }

  #do(
    instance: Instance,
    { act, name }: { readonly name: string; readonly act: Act },
    portfolio: SimulatedPortfolio
  ): void {
    this.#world.trace.note(`user: ${name}`, portfolio.portfolioId)
    const called = act(portfolio).pipe(
      Effect.provideService(Caller, callerOf(portfolio)),
      Effect.provideService(PortfolioTenant, portfolio)
    )
    instance.run(called, (exit) =>
      this.#world.trace.note(`answer: ${name}`, Exit.isSuccess(exit) ? "done" : shortCause(exit.cause))
    )
  }

  readonly #trigger: Act = ({ portfolioId }) => Effect.flatMap(Rebalances, ({ trigger }) => trigger(portfolioId))

  readonly #readPositions: Act = ({ portfolioId }) => Effect.flatMap(PositionReader, ({ read }) => read(portfolioId))

  readonly #pauseOrResume: Act = ({ portfolioId }) =>
    Effect.flatMap(Portfolios, ({ start, stop }) => (this.#random.chance(0.6) ? start : stop)(portfolioId))

  /** What counts on each chain of the portfolio. */
  readonly #authorized = ({ portfolioId, tenantId }: SimulatedPortfolio) =>
    Effect.gen(function* () {
      const { grants } = Option.getOrThrow(yield* (yield* EnrollmentStore).findEnrolled(tenantId, portfolioId))
      return { grants, chains: authorizedChains(grants) }
    })

  /** The owner takes the agent's permission off an account. */
  readonly #takeBack: Act = (portfolio) =>
    Effect.map(this.#authorized(portfolio), ({ chains }) => {
      const { accountId, permissionId } = this.#random.pick(chains)
      this.#world.revoked.add(`${accountId} ${permissionId}`)
    })

  /**
   * The owner gives the agent another permission where one was taken back. Each chain by itself: where the service has
   * not met the refusal yet, it takes none.
   */
  readonly #signAnew: Act = (portfolio) =>
    Effect.gen({ self: this }, function* () {
      const store = yield* EnrollmentStore
      const { chains, grants } = yield* this.#authorized(portfolio)
      const taken = chains.filter(({ accountId, permissionId }) =>
        this.#world.revoked.has(`${accountId} ${permissionId}`)
      )
      for (const chain of taken) {
        const createdAt = yield* DateTime.now
        const { portfolioId, strategyId, tenantId } = portfolio
        const flow = {
          flowId: yield* makeFlowId,
          tenantId,
          purpose: { _tag: "Activate" as const, portfolioId },
          strategyId,
          authorization: {
            ...grants[0]!.authorization,
            chains: [{ ...chain, permissionId: this.#newPermission() }] as const
          },
          createdAt,
          expiresAt: DateTime.add(createdAt, { days: 1 })
        }
        yield* store.insertFlow(flow)
        yield* store.activate({ portfolioId, flow, ownerSignature: "0xdd", grantedAt: createdAt })
      }
    })

  #newPermission(): PermissionId {
    this.#permissions += 1
    return PermissionId.make(`0x${this.#permissions.toString(16).padStart(8, "0")}`)
  }

  readonly #publish: Act = ({ strategyId }) =>
    Effect.flatMap(StrategyVersions, ({ publish }) =>
      publish(strategyId, { allocation: drawAllocation(this.#random), changeLog: null })
    )

  readonly #reschedule: Act = ({ strategyId }) =>
    Effect.flatMap(StrategyConfiguration, ({ setSchedule }) =>
      setSchedule(strategyId, {
        type: "interval",
        frequency: this.#random.pick<Frequency>(["hourly", "daily", "weekly"])
      })
    )

  readonly #withdraw: Act = (portfolio) =>
    Effect.gen({ self: this }, function* () {
      const account = this.#random.pick(portfolio.accounts)
      const held = assetsOn(account).flatMap((assetId) => {
        const raw = this.#world.chain(chainIdOf(account)).accounts.balance(account, assetId)
        return raw > 0n && this.#random.chance(0.6) ? [{ assetId, raw }] : []
      })
      if (held.length === 0) return "holds nothing"
      const assets = held.map(({ assetId, raw }) => ({
        assetId,
        amountRaw: String(this.#random.chance(0.2) ? raw : (raw * BigInt(this.#random.between(1, 900))) / 1000n || 1n)
      }))
      const authorizations = yield* WithdrawalAuthorizations
      const recipientAccountId = evmAccount(chainIdOf(account), portfolio.recipient)
      const liquidate = this.#random.chance(0.2)
      const issued = yield* authorizations.authorize(portfolio.portfolioId, {
        recipientAccountId,
        assets,
        liquidate,
        settlementAssetId: null
      })
      return yield* this.#submit(portfolio, account, messageOf(issued))
    })

  readonly #liquidate: Act = (portfolio) =>
    Effect.gen({ self: this }, function* () {
      const account = this.#random.pick(portfolio.accounts)
      const authorizations = yield* WithdrawalAuthorizations
      const recipientAccountId = evmAccount(chainIdOf(account), portfolio.recipient)
      const issued = yield* authorizations.authorizeAll(portfolio.portfolioId, recipientAccountId)
      return yield* this.#submit(portfolio, account, messageOf(issued))
    })

  /** Owners take their time to sign, and impatient clients send twice. */
  #submit(portfolio: SimulatedPortfolio, accountId: AccountId, message: WithdrawalMessage) {
    return Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(this.#random.between(1_000, 120_000))
      const { submit } = yield* Withdrawals
      const signed = { message, signature: signatureOf(message) }
      this.signed.push({ accountId, signed })
      const once = submit(portfolio.portfolioId, signed)
      if (!this.#random.chance(0.3)) return yield* once
      const answers = yield* Effect.all([Effect.result(once), Effect.result(once)], { concurrency: 2 })
      return answers.some(Result.isSuccess)
    })
  }
}

const shortCause = (cause: Cause.Cause<unknown>): string =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => Cause.pretty(cause).split("\n")[0]!.slice(0, 160),
    onSome: (error) => (error instanceof Error ? error.message : String(error)).slice(0, 160)
  })
