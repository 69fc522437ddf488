/**
 * `doctor`: checks a deployment with its environment, as its service would see it, and prints for each problem what to
 * do. It writes nothing, signs nothing and sends no transaction.
 */
import { Console, Effect, Layer, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { RemoteClock } from "#layers/clock/RemoteClock.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { chainChecks } from "#src/cli/doctor/chainChecks.ts"
import { databaseChecks } from "#src/cli/doctor/databaseChecks.ts"
import { type Finding, ok, problem } from "#src/cli/doctor/Finding.ts"
import { keyChecks } from "#src/cli/doctor/keyChecks.ts"
import { solanaChecks } from "#src/cli/doctor/solanaChecks.ts"
import { AdminFailed } from "#src/cli/TenantAdmin.ts"
import { type ServiceConfig, serviceConfig } from "#src/Config.ts"
import { addressOf } from "#src/config/signers.ts"

const deployment = (config: ServiceConfig) =>
  Effect.gen(function* () {
    const attestor = config.attestor.kind === "here" ? addressOf(config.attestor.signer) : null
    const groups = yield* Effect.all(
      [
        databaseChecks(config),
        keyChecks(config),
        ...config.evm.chains.map((chain) => chainChecks(chain, attestor)),
        solanaChecks(config.solana)
      ],
      { concurrency: "unbounded" }
    )
    return [ok("configuration", "every variable can be read"), ...groups.flat()]
  }).pipe(
    Effect.provide(EvmClients.layer.pipe(Layer.provideMerge(Layer.succeed(EvmConfig, config.evm)))),
    Effect.provide(
      config.clockUrl === null
        ? Layer.empty
        : RemoteClock.layer({ url: config.clockUrl, followerId: `doctor-${process.pid}` })
    ),
    Effect.catch(({ message }) =>
      Effect.succeed([problem("configuration", message, "Correct CLOCK_URL; production has none.")])
    )
  )

/** Problems of the variables alone: nothing else can be checked without them. */
const unreadable = (problems: ReadonlyArray<string>): ReadonlyArray<Finding> =>
  problems.map((line) => problem("configuration", line, "Set it as docs/operations.md and .env.example say."))

const findings: Effect.Effect<ReadonlyArray<Finding>> = Effect.gen(function* () {
  const read = yield* Effect.result(serviceConfig)
  return Result.isFailure(read) ? unreadable(read.failure.problems) : yield* deployment(read.success)
})

const labels = { ok: "ok     ", warning: "warning", problem: "PROBLEM" } as const

const textOf = (found: ReadonlyArray<Finding>): string =>
  found
    .flatMap(({ detail, status, subject, toDo }) => [
      `${labels[status]}  ${subject}: ${detail}`,
      ...(toDo === null ? [] : [`         ${toDo}`])
    ])
    .join("\n")

/** Ends with a status other than 0 when there is a problem; warnings alone leave it at 0. */
export const doctor = Command.make(
  "doctor",
  { json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON for machines"), Flag.withDefault(false)) },
  Effect.fn(function* ({ json }) {
    const found = yield* findings
    const problems = found.filter(({ status }) => status === "problem").length
    yield* Console.log(
      json ? JSON.stringify({ healthy: problems === 0, findings: found }, undefined, 2) : textOf(found)
    )
    if (problems > 0)
      return yield* new AdminFailed({
        reason: problems === 1 ? "There is 1 problem." : `There are ${problems} problems.`
      })
  })
).pipe(Command.withDescription("Check the deployment of this environment, and print what is wrong and what to do"))
