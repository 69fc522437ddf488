/** Whether each endpoint of Solana answers for the main network, and whether the agent can pay for transactions. */
import { Effect, Layer, Option } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { localAgent } from "#layers/solana/lifecycle/Agent.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { lowLamports } from "#layers/solana/SolanaFunds.ts"
import type { SolanaDeployment } from "#layers/solana/SolanaConfig.ts"
import { type Finding, ok, problem, warning } from "#src/cli/doctor/Finding.ts"

const subject = `chain ${solanaChainId}`

const endpoints = Effect.gen(function* () {
  const { each } = yield* SolanaRpc
  return yield* Effect.forEach(
    each,
    ({ position }, index) => {
      const which = `endpoint ${index + 1} of ${each.length}`
      return Effect.match(position("confirmed"), {
        onSuccess: ({ slot }) => ok(subject, `${which} answers for Solana, at slot ${slot}`),
        onFailure: ({ reason }) =>
          problem(
            subject,
            `${which} cannot be used: ${reason}`,
            "Correct or replace it in SOLANA_RPC_URL, or see why it does not answer."
          )
      })
    },
    { concurrency: "unbounded" }
  )
})

const funds = Effect.fnUntraced(function* ({ agentSeed }: SolanaDeployment) {
  const { key } = localAgent(agentSeed)
  const { values } = yield* (yield* SolanaRpc).accounts([key])
  const lamports = Option.match(values[0]!, { onNone: () => 0n, onSome: (account) => account.lamports })
  const balanceText = `the agent ${key.toBase58()} has ${Number(lamports) / 1e9} SOL`
  const toDo = "Send it SOL: it pays the fees, and the rent of new wallets and token accounts."
  if (lamports === 0n) return problem(subject, balanceText, toDo)
  return lamports < lowLamports ? warning(subject, balanceText, toDo) : ok(subject, balanceText)
})

/** Nothing of a deployment without Solana. */
export const solanaChecks = Effect.fnUntraced(
  function* (solana: SolanaDeployment | null) {
    if (solana === null) return []
    const found: ReadonlyArray<Finding> = yield* endpoints
    if (found.every(({ status }) => status === "problem")) return found
    const ofAgent = yield* Effect.catch(funds(solana), ({ message }) =>
      Effect.succeed(problem(subject, `a part of it could not be read: ${message}`, "Run doctor again."))
    )
    return [...found, ofAgent]
  },
  (effect, solana) => Effect.provide(effect, Layer.fresh(SolanaRpc.layer(solana?.rpcUrls ?? [])))
)
